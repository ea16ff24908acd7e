import { spawnSync } from 'node:child_process';
import { runInForeground } from './foreground.mjs';
import { run } from './processes.js';
import { configText, GROUP_TITLES, type GroupServer } from './redis-groups.js';
import type { RedisGroup } from './redis-client.js';
import { lastLines, ServersError } from './servers-error.js';
import type { ServersFolder } from './servers-folder.js';

const IMAGE = 'redis:7';

/**
 * Starts all servers of a group in one container. They have the same ports at 127.0.0.1 in the
 * container and on the host, so that the addresses that they announce are right in both places. The
 * data is in a volume.
 */
export async function startContainer(
  folder: ServersFolder,
  group: RedisGroup,
  servers: readonly GroupServer[],
): Promise<void> {
  removeContainer(folder, group, { purge: false });
  folder.say(`starting ${GROUP_TITLES[group]} in Docker: ${servers.length} processes`);
  const name = containerName(folder, group);
  const ports = `${servers[0]?.port ?? 0}-${servers.at(-1)?.port ?? 0}`;
  const options = ['--detach', '--name', name, '--volume', `${name}:/data`];
  const publish = ['--publish', `127.0.0.1:${ports}:${ports}`];
  const command = [IMAGE, 'sh', '-c', script(servers)];
  const code = await runInForeground('docker', ['run', ...options, ...publish, ...command], {
    stdio: ['ignore', 'ignore', 2], // pulling draws its own progress on standard error
  });
  if (code !== 0) throw new ServersError(`docker run of ${GROUP_TITLES[group]} ended with ${code}`);
}

/** The command of the container: it starts all servers, and passes SIGTERM on to them. */
function script(servers: readonly GroupServer[]): string {
  const starts = servers.map((server) => {
    const dir = `/data/${server.port}`;
    const config = `${dir}/redis.conf`;
    return [
      `mkdir -p ${dir}`,
      `[ -e ${config} ] || cat > ${config} <<'END'`,
      `${configText(server, { dir, bind: '0.0.0.0' })}END`,
      `redis-server ${config} ${server.isSentinel ? '--sentinel ' : ''}&`,
    ].join('\n');
  });
  return [`trap 'trap "" TERM; kill 0; wait' TERM`, ...starts, 'wait'].join('\n');
}

export function containerRuns(folder: ServersFolder, group: RedisGroup): boolean {
  return listed(folder, group, []) !== '';
}

/** Stops and removes the container. `purge` also removes its volume. */
export function removeContainer(
  folder: ServersFolder,
  group: RedisGroup,
  { purge }: { readonly purge: boolean },
): void {
  const name = containerName(folder, group);
  if (listed(folder, group, ['--all']) !== '') {
    folder.say(`stopping ${GROUP_TITLES[group]} in Docker`);
    run('docker', ['stop', name]);
    run('docker', ['rm', name]);
  }
  if (purge) run('docker', ['volume', 'rm', '--force', name]);
}

/** The last lines of the output of the container. */
export function containerLog(folder: ServersFolder, group: RedisGroup): string {
  const name = containerName(folder, group);
  const { stdout, stderr } = spawnSync('docker', ['logs', '--tail', '30', name], {
    encoding: 'utf8',
  });
  return `last lines of its log:\n${lastLines(`${stdout}${stderr}`)}`;
}

/** The id of the container; empty if it does not exist, or Docker does not answer. */
function listed(folder: ServersFolder, group: RedisGroup, flags: readonly string[]): string {
  const filter = `name=^${containerName(folder, group)}$`;
  const args = ['container', 'ls', ...flags, '--quiet', '--filter', filter];
  return spawnSync('docker', args, { encoding: 'utf8' }).stdout.trim();
}

function containerName(folder: ServersFolder, group: RedisGroup): string {
  return `ranklog-${folder.id}-${group}`;
}
