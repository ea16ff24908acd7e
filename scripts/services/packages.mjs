// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { runWithProgress } from './progress.mjs';
import { ServiceError } from './say.mjs';

/** Commands that native servers need, and the Debian package of each. */
const PACKAGES = {
  'redis-server': 'redis-server',
  java: 'openjdk-17-jre-headless',
  mvn: 'maven',
};
/** @typedef {keyof typeof PACKAGES} Command */

const OLDEST_JAVA = 17;

/**
 * Installs what is missing: with apt, as root on Debian; else an error that says what to install.
 * @param {Command[]} commands
 */
export async function ensureInstalled(commands) {
  const missing = commands.filter((command) => !isInstalled(command));
  if (missing.length === 0) return;
  const packages = missing.map((command) => PACKAGES[command]);
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new ServiceError(
      `not found: ${missing.join(', ')}${missing.includes('java') ? ` (${OLDEST_JAVA} or newer)` : ''}. ` +
        `Install ${packages.join(', ')} (Debian, Ubuntu: sudo apt-get install ${packages.join(' ')}), ` +
        'or start Docker, or set KAFKA_BROKERS and REDIS_URL to servers of your own',
    );
  await apt('apt-get update', ['update']);
  await apt(`installing ${packages.join(', ')}`, [
    'install',
    '--no-install-recommends',
    ...packages,
  ]);
}

/** @param {string} label @param {string[]} args */
function apt(label, args) {
  return runWithProgress({
    label,
    command: 'apt-get',
    args: ['-q', '-y', ...args],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    read: (line) => line.slice(0, 60),
  });
}

/** @param {Command} command */
function isInstalled(command) {
  if (command === 'java') return javaVersion() >= OLDEST_JAVA;
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

/** @returns {number} the major version; 0 when there is no java */
function javaVersion() {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return status === 0 ? Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) : 0;
}
