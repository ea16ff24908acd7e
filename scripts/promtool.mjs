// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { run, withLock } from '#servers';
import { SERVERS } from './services/clone.mjs';

const isRoot = process.getuid?.() === 0;

/**
 * promtool of the PATH, else that of Debian's package prometheus, which is unpacked and not installed: that would start a server.
 * @returns {Promise<string | undefined>} undefined where apt can't fetch the package without root
 */
export async function promtool() {
  if (spawnSync('promtool', ['--version']).status === 0) return 'promtool';
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  try {
    return await withLock(SERVERS.file('promtool.lock'), unpack);
  } catch (error) {
    if (isRoot) throw error;
    SERVERS.say(`promtool can't be fetched without root: ${String(error)}`);
    return undefined;
  }
}

function unpack() {
  const folder = SERVERS.file('promtool');
  const file = path.join(folder, 'usr', 'bin', 'promtool');
  if (existsSync(file)) return file;
  SERVERS.say('fetching promtool with apt (once)');
  mkdirSync(folder, { recursive: true });
  if (isRoot) run('apt-get', ['-q', 'update']);
  run('apt-get', ['-q', 'download', 'prometheus'], { cwd: folder });
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '';
  run('dpkg-deb', ['--extract', archive, '.'], { cwd: folder });
  return file;
}
