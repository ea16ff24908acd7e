// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { runWithProgress } from './progress.mjs';
import { ServiceError } from './say.mjs';

/** @typedef {'redis-server' | 'java' | 'mvn'} Command */
/**
 * Any one of `packages` installs the command. `major` returns its installed version, `oldest` is the oldest that will do.
 * @typedef {{ packages: [string, ...string[]], oldest: number, major: () => number }} Need
 */

/** Commands that native servers need. @type {Record<Command, Need>} */
const NEEDS = {
  'redis-server': {
    packages: ['redis-server'],
    oldest: 7,
    major: () => majorOf('redis-server', ['--version'], /v=(\d+)/),
  },
  java: {
    // Which of these packages exists depends on the release of Debian.
    packages: ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'default-jre-headless'],
    oldest: 17,
    major: () => majorOf('java', ['-version'], /version "(\d+)/),
  },
  mvn: {
    packages: ['maven'],
    oldest: 3,
    // Only looks for mvn: "mvn --version" needs Java, which may be missing too.
    major: () => (spawnSync('sh', ['-c', 'command -v mvn']).status === 0 ? 3 : 0),
  },
};

/**
 * Installs what is missing or too old: with apt, as root on Debian; otherwise throws an error that says what to install.
 * @param {Command[]} commands
 */
export async function ensureInstalled(commands) {
  const missing = commands.filter(isMissing);
  if (missing.length === 0) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) await install(missing);
  const still = missing.filter(isMissing);
  if (still.length > 0) throw new ServiceError(whatToInstall(still));
}

/** Whether a command is not installed, or too old. @param {Command} command */
export function isMissing(command) {
  return NEEDS[command].major() < NEEDS[command].oldest;
}

/** @param {Command[]} commands */
async function install(commands) {
  await apt('apt-get update', ['update']);
  const packages = commands.map((command) => firstKnown(NEEDS[command].packages));
  await apt(`installing ${packages.join(', ')}`, [
    ...['install', '--no-install-recommends'],
    ...packages,
  ]);
}

/** @param {Need['packages']} packages */
function firstKnown(packages) {
  const isKnown = (/** @type {string} */ name) =>
    spawnSync('apt-get', ['install', '--simulate', name]).status === 0;
  return packages.find(isKnown) ?? packages[0];
}

/** @param {Command[]} commands */
function whatToInstall(commands) {
  const needs = commands.map((command) => `${command} (${NEEDS[command].oldest} or newer)`);
  const packages = commands.map((command) => NEEDS[command].packages.at(-1)).join(' ');
  return (
    `missing or too old: ${needs.join(', ')}. Install them (Debian, Ubuntu: sudo apt-get install ${packages}), ` +
    'or start Docker, or set KAFKA_BROKERS and REDIS_URL to servers of your own'
  );
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

/**
 * The major version that a command says it has; 0 when it is missing.
 * @param {string} command @param {string[]} args @param {RegExp} pattern
 */
function majorOf(command, args, pattern) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return Number(pattern.exec(`${stdout}${stderr}`)?.[1] ?? 0);
}
