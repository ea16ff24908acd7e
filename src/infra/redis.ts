import { Cluster, Redis, type Command } from 'ioredis';
import {
  primariesOf,
  replicaErrorOf,
  ReplicaError,
  requirePrimary,
  SLOTS,
  type RedisClient,
} from '#board-store';
import { parseRedisUrl, type RedisAddress } from '#redis-url';
import { tlsOptions, type Settings } from '../config/settings.js';
import type { Logger } from './logger.js';
import { RecurringTask } from './recurring-task.js';

/** Long enough for a slow script, short enough to notice a server that hangs. */
const COMMAND_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** How often a client checks that its server is still the primary, even if it sends no commands. */
const ROLE_CHECK_MS = 1_000;
/**
 * How often a client of a cluster asks which node has which slots; it learns of most moves earlier.
 */
const SLOTS_CHECK_MS = 5_000;

/**
 * A Redis client that is not connected yet. While the server is unreachable, commands fail instead
 * of queueing. A command may have run although it failed, or run later when ioredis sends it again
 * on the next connection, so ranklog sends only commands that are safe to repeat. The client is
 * never ready on a replica, and leaves a server that becomes one, unless `anyRole` is set.
 */
export function createRedis(settings: Settings, logger: Logger, anyRole = false): RedisClient {
  const address = parseRedisUrl(settings.redisUrl);
  if (address === undefined) throw new Error('REDIS_URL was not checked');
  const redis =
    address.kind === 'cluster'
      ? createCluster(address, settings, logger)
      : createSingle(address, settings, logger, anyRole);
  nameErrors(redis);
  return redis;
}

function createSingle(
  { kind, nodes, primary, username, password }: RedisAddress,
  settings: Settings,
  logger: Logger,
  anyRole: boolean,
): Redis {
  const options = {
    ...connectionOptions(settings),
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelay,
    reconnectOnError: isOfSelect,
  };
  const ofSentinels = {
    sentinels: [...nodes],
    sentinelRetryStrategy: reconnectDelay,
    enableTLSForSentinelMode: true,
    ...(primary && { name: primary }),
    ...(username && { username }),
    ...(password && { password }),
    ...(options.tls && { sentinelTLS: options.tls }),
  };
  const redis =
    kind === 'sentinel'
      ? new Redis({ ...options, ...ofSentinels, lazyConnect: true })
      : new Redis(settings.redisUrl, { ...options, lazyConnect: true });
  redis.on('close', () => stopSocketTimer(redis));
  if (kind === 'sentinel') logInToSentinels(redis, username, password);
  if (!anyRole) stayOnPrimary(redis);
  logConnection(redis, 'Redis connection', logger);
  return redis;
}

/**
 * If a node is away, commands on its keys fail within some seconds, and commands on keys of other
 * nodes succeed. Roles are not checked, because replicas answer no command on a key
 * (`refuseReads`).
 */
function createCluster(
  { nodes, username, password }: RedisAddress,
  settings: Settings,
  logger: Logger,
): Cluster {
  const cluster = new Cluster([...nodes], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectDelay,
    slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
    dnsLookup: (host, done) => done(null, host), // the socket resolves it: TLS needs the name
    redisOptions: {
      ...connectionOptions(settings),
      ...(username && { username }),
      ...(password && { password }),
    },
  });
  const states = new Map<string, ConnectionState>();
  cluster.on('+node', (node: Redis) => {
    const { host, port } = node.options;
    const name = `${host}:${port}`;
    node.on('close', () => stopSocketTimer(node));
    handleAsking(node);
    refuseReads(node);
    const state = states.get(name) ?? { is: 'new' };
    states.set(name, state);
    logConnection(node, `Redis node ${name}: connection`, logger, state);
  });
  // Pass errors of nodes on, also while the cluster connects.
  cluster.on('node error', (error: Error) => cluster.emit('error', error));
  cluster.on('error', () => undefined); // without a listener, `emit` would throw
  checkSlots(cluster);
  return cluster;
}

/** The options of a single server, or of each node of a cluster. */
function connectionOptions(settings: Settings) {
  const hasTls = parseRedisUrl(settings.redisUrl)?.hasTls === true;
  return {
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A half-open connection is replaced, and the process is not ready meanwhile
    socketTimeout: COMMAND_TIMEOUT_MS,
    disableClientInfo: true, // it would need one more right
    ...(hasTls && { tls: tlsOptions(settings, 'redisSsl') }),
  };
}

function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, MAX_RECONNECT_DELAY_MS);
}

/** Replaces texts of ioredis by ones that tell users what is wrong. */
function nameErrors(redis: RedisClient): void {
  const send = redis.sendCommand.bind(redis) as SendCommand;
  const sendNamed: SendCommand = (command, ...rest) => {
    const { reject } = command;
    command.reject = (error) => reject.call(command, named(error));
    return send(command, ...rest);
  };
  redis.sendCommand = sendNamed;
}

function named(error: Error): Error {
  const { message } = error;
  if (message.match(`^${OFFLINE}`)) return new Error(NOT_CONNECTED);
  if (!message.startsWith(REDIRECTED)) return error;
  const last = message.slice(REDIRECTED.length);
  return new Error(`Redis Cluster: ${reasonOf(last)} (${last})`);
}

function reasonOf(lastError: string): string {
  if (/(ASK|TRYAGAIN) /.test(lastError)) return 'a slot moves, so its scripts wait';
  // Another node has named the primary again, which did not answer, or redirected the client.
  if (/MOVED /.test(lastError)) return 'a slot moves, or its primary does not answer';
  return 'a primary does not answer';
}

/** The method of both clients. That of a cluster has one more argument. */
export type SendCommand = (command: Command, ...rest: unknown[]) => unknown;

interface ConnectionState {
  is: 'new' | 'ready' | 'down';
}

/** Logs once when a connection is lost, and when it is restored. */
function logConnection(
  redis: Redis,
  name: string,
  logger: Logger,
  state: ConnectionState = { is: 'new' },
): void {
  redis.on('error', (error: Error) => {
    if (state.is === 'down') return;
    const event = state.is === 'new' ? 'failed' : 'lost';
    logger.warn(`${name} ${event}: ${error.message || String(error)}`);
    state.is = 'down';
  });
  redis.on('ready', () => {
    if (state.is === 'down') logger.info(`${name} restored`);
    state.is = 'ready';
  });
}

/** The Redis clients of a process. */
export class RedisClients {
  /**
   * `reads` is the client for reads over HTTP, in a process with the role `query`. Redis answers
   * the commands of a connection in order, so on `main` the commands of ingest would wait behind
   * all earlier reads.
   */
  constructor(
    readonly main: RedisClient,
    readonly reads = main,
  ) {}

  get all(): ReadonlySet<RedisClient> {
    return new Set([this.main, this.reads]);
  }

  disconnect(): void {
    for (const redis of this.all) redis.disconnect();
  }
}

/** Commands that need no check of the role: they read no keys, or are scripts, which check it. */
const NO_PLAIN_READ = /^(auth|select|info|ping|time|config|eval|evalsha)$/;

/**
 * Leaves a server that is a replica, because its plain reads may be old. Checks the role at each
 * connection, behind plain commands, and at intervals, because a process may send no commands. The
 * next connection resolves the host name anew.
 */
function stayOnPrimary(redis: Redis): void {
  refuseReplicas(redis);
  redis.options.reconnectOnError = (error) => {
    const isOfReplica = error.message.startsWith('READONLY ');
    if (isOfReplica) redis.emit('error', error);
    return isOfReplica || isOfSelect(error);
  };
  const checkRole = () =>
    requirePrimary(redis).catch((error: unknown) => {
      if (error instanceof ReplicaError) {
        redis.emit('error', error);
        redis.disconnect(true); // and connect again
      }
      throw error;
    });
  const checkBehind = sharedInTurn(checkRole);
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const sent = send(command, stream);
    if (redis.status !== 'ready' || NO_PLAIN_READ.test(command.name)) return sent;
    const { resolve } = command;
    const checked = checkBehind();
    checked.catch((error: unknown) => command.reject(error as Error));
    command.resolve = (value) => void checked.then(() => resolve(value)).catch(() => undefined);
    return sent;
  };
  const check = new RecurringTask(() => checkRole().catch(() => undefined), ROLE_CHECK_MS);
  redis.on('ready', () => {
    check.start();
  });
  redis.on('close', () => void check.stop());
}

/**
 * Sends the login of the URL to a sentinel only after it has refused to answer without one.
 * Sentinels need no login, or mostly that of the servers. If a sentinel needs no password and gets
 * one, ioredis writes a warning to stderr for each connection; an unknown user is an error.
 */
function logInToSentinels(redis: Redis, username?: string, password?: string): void {
  const { connector } = redis as unknown as { connector: SentinelConnector };
  const { options } = connector;
  const ask = connector.resolve.bind(connector);
  connector.resolve = async (sentinel) => {
    try {
      return await ask(sentinel);
    } catch (error) {
      if (!password || !/^(NOAUTH|NOPERM) /.test((error as Error).message)) throw error;
    }
    options.sentinelUsername = username;
    options.sentinelPassword = password;
    return ask(sentinel).finally(() => {
      options.sentinelUsername = undefined;
      options.sentinelPassword = undefined;
    });
  };
}

/** Makes a connection to a replica fail. ioredis connects again, after a pause that grows. */
function refuseReplicas(redis: Redis): void {
  const { connector } = redis as unknown as { connector: Connector };
  const accepts = connector.check.bind(connector);
  connector.check = (info) => {
    if (!accepts(info)) return false; // the sentinels are asked again
    // The user may not call INFO: the checks of a start say so
    if (info['role'] === undefined) return true;
    const error = replicaErrorOf(info);
    if (error !== undefined) redis.emit('error', error);
    return error === undefined;
  };
}

/**
 * Runs one check for all calls in a turn of the event loop, behind them, and gives each of them its
 * outcome. A check for each plain command would double the time of many commands in a row.
 */
function sharedInTurn(check: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= Promise.resolve().then(() => {
      next = undefined; // later commands need a later check
      return check();
    });
    return next;
  };
}

/** Part of ioredis that accepts or refuses a server by its reply to INFO. */
interface Connector {
  check: (info: Readonly<Record<string, string | undefined>>) => boolean;
}

/** Part of ioredis that asks a sentinel for the primary, with the login of its options. */
interface SentinelConnector {
  options: { sentinelUsername?: string | undefined; sentinelPassword?: string | undefined };
  resolve: (sentinel: unknown) => Promise<unknown>;
}

/** ioredis 5.11 keeps the timer of a closed connection, which would then close the next one. */
function stopSocketTimer(redis: object): void {
  const owner = redis as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  clearTimeout(owner.socketTimeoutTimer);
  owner.socketTimeoutTimer = undefined;
}

/**
 * ioredis makes replicas answer reads (READONLY), and asks them while it knows no primary: their
 * data may be old. Without READONLY, a replica names its primary instead (MOVED).
 */
function refuseReads(node: Redis): void {
  Object.assign(node, { readonly: () => Promise.resolve('OK') });
}

/**
 * Replaces `slotsRefreshInterval`, whose timer may go on after `disconnect` and keep the process
 * alive.
 */
function checkSlots(cluster: Cluster): void {
  const check = new RecurringTask(() => cluster.refreshSlotsCache(), SLOTS_CHECK_MS);
  cluster.on('ready', () => check.start());
  cluster.on('close', () => void check.stop());
}

/**
 * ioredis 5.11 sends ASKING before a command that a moving slot redirects, and does not handle its
 * rejection, which would end the process. It can be ignored: the command itself fails then, and is
 * sent again.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  const askingHandled = (): Promise<'OK'> => {
    const sent = asking();
    sent.catch(() => undefined);
    return sent;
  };
  Object.assign(node, { asking: askingHandled });
}

/**
 * Whether SELECT failed. Without a reconnect, ioredis would go on in database 0 if Redis lacks the
 * database of the URL.
 */
function isOfSelect(error: Error): boolean {
  return (error as Error & { command?: { name: string } }).command?.name === 'select';
}

/**
 * The texts of ioredis go on with "and enableOfflineQueue options is false", which tells users
 * nothing.
 */
const OFFLINE = "(Stream isn't writeable|Cluster isn't ready) and enableOfflineQueue";
const NOT_CONNECTED = 'Redis is not connected';
/** ioredis says this when it has sent a command to 16 nodes. */
const REDIRECTED = 'Too many Cluster redirections. Last error: ';

/** ioredis exports no classes for these errors; only their texts identify them. */
const CLIENT_ERROR = new RegExp(
  `^(Command timed out|Connection is closed|${OFFLINE}|${NOT_CONNECTED}|Reached the max ` +
    'retries per request limit|Redis Cluster: |Cluster is ended|None of startup nodes is ' +
    'available)',
);

/** Error replies of a server that is full or not ready, also from within a script. */
const SERVER_ERROR =
  /\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|NOREPLICAS|MISCONF) /;

const SYSTEM_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']);

/** Whether a command failed because Redis is unreachable, full or not ready. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name.startsWith('KafkaJS')) return false; // they have codes of the system, too
  if (error.name === 'ReplyError') return SERVER_ERROR.test(error.message);
  const { code } = error as NodeJS.ErrnoException;
  return CLIENT_ERROR.test(error.message) || (code !== undefined && SYSTEM_ERRORS.has(code));
}

/**
 * Whether one of these errors is of a node of a Redis Cluster that is away, or of a slot that
 * moves, as the other nodes say: so the reason is not this process, or its network. Cost: a request
 * to each primary.
 */
export async function isOfClusterItself(
  redis: RedisClient,
  errors: readonly unknown[],
): Promise<boolean> {
  const ofRedis = errors.filter(isRedisUnavailable) as Error[];
  if (!redis.isCluster || ofRedis.length === 0) return false;
  if (ofRedis.some(({ message }) => /\b(ASK|TRYAGAIN) /.test(message))) return true;
  const infos = await Promise.allSettled(primariesOf(redis).map((node) => node.cluster('INFO')));
  return infos.some((info) => info.status === 'fulfilled' && answeringSlots(info.value) < SLOTS);
}

/** The slots whose node answers the others, from CLUSTER INFO. */
function answeringSlots(info: string): number {
  return Number(/^cluster_slots_ok:(\d+)/m.exec(info)?.[1] ?? SLOTS);
}
