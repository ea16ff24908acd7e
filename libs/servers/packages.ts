import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { runWithProgress } from './progress.js';
import { ServersError } from './servers-error.js';
import type { ServersFolder } from './servers-folder.js';

/** Commands that native servers need. */
export type Command = 'redis-server' | 'java' | 'mvn';

interface Need {
  /** Each of these packages installs the command; the first known one is used. */
  readonly packages: readonly [string, ...string[]];
  /** The oldest major version that will do. */
  readonly oldest: number;
  /** The installed version; 0 if it is missing. */
  readonly major: () => number;
}

const NEEDS: Readonly<Record<Command, Need>> = {
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
 * Installs commands that are missing or too old, if this is root on Debian.
 * @throws ServersError with the packages to install, if any command is still missing
 */
export async function ensureInstalled(
  folder: ServersFolder,
  commands: readonly Command[],
): Promise<void> {
  const missing = commands.filter(isMissing);
  if (missing.length === 0) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) await install(folder, missing);
  const still = missing.filter(isMissing);
  if (still.length > 0) throw new ServersError(whatToInstall(still));
}

/** Whether a command is not installed, or too old. */
export function isMissing(command: Command): boolean {
  return NEEDS[command].major() < NEEDS[command].oldest;
}

async function install(folder: ServersFolder, commands: readonly Command[]): Promise<void> {
  await apt(folder, 'apt-get update', ['update']);
  const packages = commands.map((command) => firstKnown(NEEDS[command].packages));
  const args = ['install', '--no-install-recommends', ...packages];
  await apt(folder, `installing ${packages.join(', ')}`, args);
}

function firstKnown(packages: Need['packages']): string {
  const isKnown = (name: string) =>
    spawnSync('apt-get', ['install', '--simulate', name]).status === 0;
  return packages.find(isKnown) ?? packages[0];
}

function whatToInstall(commands: readonly Command[]): string {
  const needs = commands.map((command) => `${command} (${NEEDS[command].oldest} or newer)`);
  const packages = commands.map((command) => NEEDS[command].packages.at(-1)).join(' ');
  return (
    `missing or too old: ${needs.join(', ')}. Install them (Debian, Ubuntu: sudo apt-get ` +
    `install ${packages}), or start Docker, or set KAFKA_BROKERS and REDIS_URL to servers of ` +
    'your own'
  );
}

function apt(folder: ServersFolder, label: string, args: readonly string[]): Promise<void> {
  return runWithProgress(folder, {
    label,
    command: 'apt-get',
    args: ['-q', '-y', ...args],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    read: (line) => line.slice(0, 60),
  });
}

/** The major version that a command prints; 0 if the command is missing. */
function majorOf(command: string, args: readonly string[], pattern: RegExp): number {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return Number(pattern.exec(`${stdout}${stderr}`)?.[1] ?? 0);
}
