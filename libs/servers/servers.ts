import { toError } from '#errors';
import { withoutPassword } from '#redis-url';
import { addressOf, givenAddress, SERVER_VARIABLES } from './addresses.js';
import { dockerAnswers, startCompose, stopCompose } from './docker.js';
import { groupAddress, groupRuns } from './group-state.js';
import {
  howGroupRuns,
  pingGroup,
  REDIS_GROUPS,
  removeGroup,
  startGroup,
  stopGroup,
} from './group-servers.js';
import { hasJars, kafkaVersion } from './kafka-jars.js';
import { pingKafka } from './kafka-probe.js';
import { startKafka } from './kafka.js';
import { withLock } from './lock.mjs';
import { ensureInstalled, type Command } from './packages.js';
import { stopServer } from './processes.js';
import { pingRedis, type RedisGroup, type RedisKind } from './redis-client.js';
import { requireSize } from './redis-groups.js';
import { startRedis } from './redis.js';
import { ServersError } from './servers-error.js';
import { SERVER_NAMES, type ServerName, type ServersFolder } from './servers-folder.js';

export interface ServerStatus {
  readonly name: ServerName | RedisGroup;
  readonly how: 'env' | 'docker' | 'native' | 'down';
  readonly address: string | null;
  /** Of a native server; a group has several. */
  readonly pid: number | null;
  readonly answers: boolean;
}

interface StartOptions<Name extends ServerName> {
  /** Default: both. */
  readonly servers?: readonly Name[];
  /** The release of Kafka, such as 4.1. Default: the one that runs, else the newest known one. */
  readonly release?: string | undefined;
  /** Default: the kind of the given Redis, else a single server. */
  readonly redisKind?: RedisKind | undefined;
  /** How many servers a cluster has. Default: as many as it had before, else 6. */
  readonly clusterSize?: number | undefined;
}

const PINGS = { kafka: pingKafka, redis: pingRedis };

/**
 * Starts the servers of a folder that do not run: with docker compose where an engine answers, else
 * natively. Servers whose addresses are given are only checked. They run until `stopServers`, also
 * after the end of this process. Resolves with their addresses when all of them answer.
 * @throws ServersError
 */
export async function startServers<Name extends ServerName = ServerName>(
  folder: ServersFolder,
  options: StartOptions<Name> = {},
): Promise<Record<Name, string>> {
  const { servers = SERVER_NAMES as readonly ServerName[] as readonly Name[] } = options;
  const { release, redisKind: kind, clusterSize } = options;
  if (release !== undefined) kafkaVersion(release);
  if (clusterSize !== undefined) requireSize('cluster', clusterSize);

  const isGiven = (name: ServerName) => givenAddress(folder, name, kind) !== undefined;
  const own = servers.filter((name) => !isGiven(name));
  await Promise.all(servers.filter(isGiven).map((name) => checkGiven(folder, name)));
  if (own.length > 0)
    await withLock(lockFile(folder), () => startOwn(folder, { ...options, servers: own }));
  const addresses = servers.map((name) => [name, addressOf(folder, name, kind)]);
  return Object.fromEntries(addresses) as Record<Name, string>;
}

async function startOwn(
  folder: ServersFolder,
  { servers = [], release, redisKind: kind = 'single', clusterSize }: StartOptions<ServerName>,
): Promise<void> {
  const group = servers.includes('redis') && kind !== 'single' ? kind : undefined;
  const names = servers.filter((name) => name === 'kafka' || group === undefined);
  const down = names.filter((name) => folder.runningPid(name) === undefined);
  const areAllDown = down.length > 0 && down.length === names.length;
  const inCompose = areAllDown && dockerAnswers();

  const commands = inCompose ? [] : neededCommands(folder, down, release);
  if (group !== undefined && howGroupRuns(folder, group) === 'native')
    commands.push('redis-server');
  await ensureInstalled(folder, commands);

  if (group !== undefined) await startGroup(folder, group, clusterSize);
  if (inCompose) await startCompose(folder, names, release);
  else await startNatively(folder, names, release);
  if (servers.includes('redis')) folder.changeState({ redisKind: kind });
}

async function startNatively(
  folder: ServersFolder,
  names: readonly ServerName[],
  release: string | undefined,
): Promise<void> {
  if (names.includes('redis')) await startRedis(folder);
  if (names.includes('kafka')) await startKafka(folder, release);
}

/** The commands of all servers, so that one error names all missing commands. */
function neededCommands(
  folder: ServersFolder,
  down: readonly ServerName[],
  release: string | undefined,
): Command[] {
  const commands: Command[] = [];
  if (down.includes('redis')) commands.push('redis-server');
  if (down.includes('kafka')) commands.push('java');
  if (down.includes('kafka') && !hasJars(folder, release)) commands.push('mvn');
  return commands;
}

async function checkGiven(folder: ServersFolder, name: ServerName): Promise<void> {
  const address = addressOf(folder, name) ?? '';
  try {
    await PINGS[name](address);
  } catch (error) {
    throw new ServersError(
      `${SERVER_VARIABLES[name]} is set to ${withoutPassword(address)}, which does not ` +
        `answer: ${String(toError(error))}`,
    );
  }
}

/**
 * Stops the servers that `startServers` started. `purge` also deletes their data. Leaves servers
 * alone whose addresses are given.
 */
export async function stopServers(
  folder: ServersFolder,
  { purge = false }: { readonly purge?: boolean } = {},
): Promise<void> {
  await withLock(lockFile(folder), async () => {
    const remaining = stopCompose(folder, { purge });
    const stopOrRemove = purge ? removeGroup : stopGroup;
    await Promise.all([
      ...SERVER_NAMES.map((name) => stopServer(folder, name)),
      ...REDIS_GROUPS.map((group) => stopOrRemove(folder, group)),
    ]);
    if (purge) folder.purgeData();
    if (remaining !== undefined) folder.changeState({ docker: remaining }); // for the next purge
  });
}

/** Sends SIGTERM to the servers of a folder without waiting: for a process that exits. */
export function endServers(folder: ServersFolder): void {
  try {
    for (const name of SERVER_NAMES) {
      const pid = folder.runningPid(name);
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
    }
    stopCompose(folder, { purge: false });
  } catch (error) {
    folder.say(toError(error).message);
  }
}

/** The status of the servers in use, and of other servers of the folder that run. */
export async function serverStatus(folder: ServersFolder): Promise<ServerStatus[]> {
  const { redisKind = 'single' } = folder.readState();
  const isShown = (kind: RedisKind) => folder.given.redis === undefined && redisKind === kind;
  const groups = REDIS_GROUPS.filter((group) => isShown(group) || groupRuns(folder, group));
  const statuses = await Promise.all([
    ...SERVER_NAMES.map((name) => statusOf(folder, name)),
    ...groups.map((group) => statusOfGroup(folder, group)),
  ]);
  const isGroupInUse = groups.some(isShown);
  return statuses.filter(({ name, how }) => name !== 'redis' || !isGroupInUse || how !== 'down');
}

async function statusOf(folder: ServersFolder, name: ServerName): Promise<ServerStatus> {
  const given = folder.given[name];
  if (given !== undefined) {
    const answers = await succeeds(PINGS[name](given));
    return { name, how: 'env', address: given, pid: null, answers };
  }

  const address = addressOf(folder, name, 'single');
  if (address === undefined) return { name, how: 'down', address: null, pid: null, answers: false };

  const how = folder.readState().mode ?? 'native';
  const pid = how === 'native' ? (folder.runningPid(name) ?? null) : null;
  const answers = await succeeds(PINGS[name](address));
  return { name, how, address, pid, answers };
}

async function statusOfGroup(folder: ServersFolder, group: RedisGroup): Promise<ServerStatus> {
  const address = groupAddress(folder, group);
  if (address === undefined)
    return { name: group, how: 'down', address: null, pid: null, answers: false };

  const how = folder.readState().groups?.[group]?.how ?? 'down';
  const answers = await succeeds(pingGroup(folder, group));
  return { name: group, how, address, pid: null, answers };
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function lockFile(folder: ServersFolder): string {
  return folder.file('servers.lock');
}
