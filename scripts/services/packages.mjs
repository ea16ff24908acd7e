// @ts-check
import { existsSync } from 'node:fs';
import { isInstalled, run } from './processes.mjs';
import { say, ServiceError } from './say.mjs';

/** Commands that native servers need, and the Debian package of each. */
const PACKAGES = {
  'redis-server': 'redis-server',
  java: 'openjdk-17-jre-headless',
  mvn: 'maven',
};

/**
 * Installs what is missing with apt, where that is possible.
 * @param {(keyof typeof PACKAGES)[]} commands
 */
export function ensureInstalled(commands) {
  const missing = commands.filter((command) => !isInstalled(command));
  if (missing.length === 0) return;
  const packages = missing.map((command) => PACKAGES[command]);
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new ServiceError(
      `${missing.join(', ')} not found. Install ${packages.join(', ')} (on Debian: apt-get install ${packages.join(' ')}), ` +
        'or start Docker, or set KAFKA_BROKERS and REDIS_URL to servers of your own',
    );
  say(`installing ${packages.join(', ')} with apt`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-q'], { env });
  run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], { env });
}
