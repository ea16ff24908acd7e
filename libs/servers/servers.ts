import { toError } from '#errors';
import { addressOf, SERVER_VARIABLES } from './addresses.js';
import { dockerAnswers, startCompose, stopCompose } from './docker.js';
import { hasJars, kafkaVersion } from './kafka-jars.js';
import { pingKafka } from './kafka-probe.js';
import { startKafka } from './kafka.js';
import { withLock } from './lock.mjs';
import { ensureInstalled, type Command } from './packages.js';
import { stopServer } from './processes.js';
import { pingRedis, startRedis } from './redis.js';
import { ServersError } from './servers-error.js';
import { SERVER_NAMES, type ServerName, type ServersFolder } from './servers-folder.js';

export interface ServerStatus {
  readonly name: ServerName;
  readonly how: 'env' | 'docker' | 'native' | 'down';
  readonly address: string | null;
  readonly pid: number | null;
  readonly answers: boolean;
}

interface StartOptions<Name extends ServerName> {
  /** Default: both. */
  readonly servers?: readonly Name[];
  /** The release of Kafka, such as 4.1. Default: the one that runs, else the newest known one. */
  readonly release?: string | undefined;
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
  {
    servers = SERVER_NAMES as readonly ServerName[] as readonly Name[],
    release,
  }: StartOptions<Name> = {},
): Promise<Record<Name, string>> {
  if (release !== undefined) kafkaVersion(release);
  const isGiven = (name: ServerName) => folder.given[name] !== undefined;
  const own = servers.filter((name) => !isGiven(name));
  await Promise.all(servers.filter(isGiven).map((name) => checkGiven(folder, name)));
  if (own.length > 0) await withLock(lockFile(folder), () => startOwn(folder, own, release));
  const addresses = servers.map((name) => [name, addressOf(folder, name)]);
  return Object.fromEntries(addresses) as Record<Name, string>;
}

async function startOwn(
  folder: ServersFolder,
  names: readonly ServerName[],
  release: string | undefined,
): Promise<void> {
  const down = names.filter((name) => folder.runningPid(name) === undefined);
  if (down.length === names.length && dockerAnswers()) return startCompose(folder, names, release);
  await ensureInstalled(folder, neededCommands(folder, down, release));
  if (names.includes('redis')) await startRedis(folder);
  if (names.includes('kafka')) await startKafka(folder, release);
}

/** All at once, so that one error names all that is missing. */
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
    const shown = address.replace(/\/\/[^@/]*@/, '//***@');
    throw new ServersError(
      `${SERVER_VARIABLES[name]} is set to ${shown}, which does not answer: ${String(toError(error))}`,
    );
  }
}

/**
 * Stops what `startServers` started; servers whose addresses are given are left alone.
 * `purge` removes their data, too.
 */
export async function stopServers(
  folder: ServersFolder,
  { purge = false }: { readonly purge?: boolean } = {},
): Promise<void> {
  await withLock(lockFile(folder), async () => {
    const remaining = stopCompose(folder, { purge });
    await Promise.all(SERVER_NAMES.map((name) => stopServer(folder, name)));
    if (purge) folder.purgeData();
    if (remaining !== undefined) folder.changeState({ docker: remaining }); // for the next purge
  });
}

/** Sends SIGTERM to the servers of a folder, and does not wait for their end: for a process that exits. */
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

/** The status of both servers. */
export function serverStatus(folder: ServersFolder): Promise<ServerStatus[]> {
  return Promise.all(SERVER_NAMES.map((name) => statusOf(folder, name)));
}

async function statusOf(folder: ServersFolder, name: ServerName): Promise<ServerStatus> {
  const address = addressOf(folder, name) ?? null;
  const how =
    folder.given[name] !== undefined
      ? 'env'
      : address === null
        ? 'down'
        : (folder.readState().mode ?? 'native');
  const pid = how === 'native' ? (folder.runningPid(name) ?? null) : null;
  const answers =
    address !== null &&
    (await PINGS[name](address).then(
      () => true,
      () => false,
    ));
  return { name, how, address, pid, answers };
}

function lockFile(folder: ServersFolder): string {
  return folder.file('servers.lock');
}
