// @ts-check
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run, withLock } from '#servers';
import { SERVERS } from './services/clone.mjs';

const isRoot = process.getuid?.() === 0;

/**
 * The folder in which packages of Debian are unpacked, not installed: an installed one might start
 * a server.
 * @param {string} name of the folder
 * @param {readonly string[]} packages
 * @returns {Promise<string | undefined>} undefined where apt can't fetch them without root
 */
export async function unpackedPackages(name, packages) {
  if (!existsSync('/usr/bin/apt-get')) return undefined;
  const folder = SERVERS.file(name);
  try {
    return await withLock(SERVERS.file(`${name}.lock`), () => unpack(folder, packages));
  } catch (error) {
    if (isRoot) throw error;
    SERVERS.say(`${name} can't be fetched without root: ${String(error)}`);
    return undefined;
  }
}

/** @param {string} folder @param {readonly string[]} packages */
function unpack(folder, packages) {
  const complete = path.join(folder, 'complete');
  if (existsSync(complete)) return folder;
  SERVERS.say(`fetching ${packages.join(', ')} with apt (once)`);
  mkdirSync(folder, { recursive: true });
  if (isRoot) run('apt-get', ['-q', 'update']);
  run('apt-get', ['-q', 'download', ...packages], { cwd: folder });
  for (const archive of readdirSync(folder).filter((file) => file.endsWith('.deb')))
    run('dpkg-deb', ['--extract', archive, '.'], { cwd: folder });
  writeFileSync(complete, '');
  return folder;
}
