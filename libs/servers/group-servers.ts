import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { toError } from '#errors';
import { dockerAnswers } from './docker.js';
import { groupRuns, portsOf, processName, processNames, runsNatively } from './group-state.js';
import { containerLog, containerRuns, removeContainer, startContainer } from './docker-groups.js';
import { startProcess, stopServer, waitUntilItAnswers } from './processes.js';
import {
  checkGroup,
  configText,
  defaultSize,
  formGroup,
  freeGroupPorts,
  groupIsComplete,
  groupServers,
  GROUP_TITLES,
  groupUrl,
  requireSize,
  takenPorts,
  type GroupServer,
} from './redis-groups.js';
import { pingRedis, type RedisGroup } from './redis-client.js';
import { logTail, ServersError } from './servers-error.js';
import type { GroupState, ServersFolder } from './servers-folder.js';

export const REDIS_GROUPS = ['cluster', 'sentinel'] as const satisfies readonly RedisGroup[];

/** How a start runs the group: natively if it runs so already, else in Docker if that answers. */
export function howGroupRuns(folder: ServersFolder, group: RedisGroup): GroupState['how'] {
  if (runsNatively(folder, group)) return 'native';
  return dockerAnswers() ? 'docker' : 'native';
}

/** Starts the servers of a group that do not run; resolves when all of them work together. */
export async function startGroup(
  folder: ServersFolder,
  group: RedisGroup,
  servers: number | undefined,
): Promise<void> {
  const state = await preparedState(folder, group, servers);
  const ports = portsOf(state);
  const specs = groupServers(group, ports);
  if (state.how === 'native') await startNatively(folder, group, specs);
  else if (!containerRuns(folder, group)) await startContainer(folder, group, specs);

  try {
    if (state.isComplete) await groupIsComplete(group, ports);
    else await formGroup(group, ports);
  } catch (error) {
    const log =
      state.how === 'native' ? logTail(folder.logFile(`${group}-1`)) : containerLog(folder, group);
    throw new ServersError(
      `${GROUP_TITLES[group]} does not come up: ${toError(error).message}; ${log}`,
    );
  }
  changeGroup(folder, group, { ...state, isComplete: true });
  folder.say(`${GROUP_TITLES[group]} answers at ${groupUrl(group, ports)}`);
}

/** The state of a group to start: the last one, unless it can't be used again. */
async function preparedState(
  folder: ServersFolder,
  group: RedisGroup,
  servers: number | undefined,
): Promise<GroupState> {
  const known = folder.readState().groups?.[group];
  const size = servers ?? known?.servers ?? defaultSize(group);
  requireSize(group, size);
  const how = howGroupRuns(folder, group);
  if (known?.isComplete === true) {
    if (known.servers === size && known.how === how) return known;
    if (groupRuns(folder, group))
      throw new ServersError(
        `${GROUP_TITLES[group]} of ${known.servers} servers is running; stop it before you ask ` +
          `for ${size}`,
      );
  }

  await removeGroup(folder, group);
  const [firstPort = 0] = await freeGroupPorts(size);
  const state = { how, firstPort, servers: size, isComplete: false };
  changeGroup(folder, group, state);
  return state;
}

async function startNatively(
  folder: ServersFolder,
  group: RedisGroup,
  servers: readonly GroupServer[],
): Promise<void> {
  const named = servers.map((server, index) => ({ ...server, name: processName(group, index) }));
  const down = named.filter(({ name }) => folder.runningPid(name) === undefined);
  const taken = await takenPorts(down.map(({ port }) => port));
  if (taken.length > 0)
    throw new ServersError(
      `another program uses port ${taken.join(', ')} of ${GROUP_TITLES[group]}; end it, or ` +
        `delete ${folder.file(`${group}-data`)} and state.json beside it`,
    );

  if (down.length > 0) folder.say(`starting ${GROUP_TITLES[group]}: ${down.length} processes`);
  for (const server of down) {
    const dir = folder.file(`${group}-data`, String(server.port));
    const config = path.join(dir, 'redis.conf');
    mkdirSync(dir, { recursive: true });
    if (!existsSync(config)) writeFileSync(config, configText(server, { dir }));
    const flags = server.isSentinel ? ['--sentinel'] : [];
    startProcess(folder, server.name, ['redis-server', config, ...flags]);
  }

  const waits = named.map(({ name, port }) => {
    const answers = () => pingRedis(`redis://127.0.0.1:${port}`);
    return waitUntilItAnswers(folder, { name, answers, seconds: 30 });
  });
  await Promise.all(waits);
}

/** Stops the servers of a group, and keeps their data. */
export async function stopGroup(folder: ServersFolder, group: RedisGroup): Promise<void> {
  const state = folder.readState().groups?.[group];
  if (state === undefined) return;
  if (state.how === 'docker') removeContainer(folder, group, { purge: false });
  await Promise.all(processNames(state, group).map((name) => stopServer(folder, name)));
}

/** Stops the servers of a group, and deletes their data. */
export async function removeGroup(folder: ServersFolder, group: RedisGroup): Promise<void> {
  await stopGroup(folder, group);
  if (folder.readState().groups?.[group]?.how === 'docker')
    removeContainer(folder, group, { purge: true });
  rmSync(folder.file(`${group}-data`), { recursive: true, force: true });
}

/** @throws unless all servers of a group that runs work together */
export async function pingGroup(folder: ServersFolder, group: RedisGroup): Promise<void> {
  const state = folder.readState().groups?.[group];
  if (state !== undefined) await checkGroup(group, portsOf(state));
}

function changeGroup(folder: ServersFolder, group: RedisGroup, state: GroupState): void {
  folder.changeState({ groups: { ...folder.readState().groups, [group]: state } });
}
