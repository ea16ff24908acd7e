// @ts-check
const BATCH = 500;
const BATCHES_PER_ROUND = 4;
const T0 = Date.parse('2026-01-01T00:00:00Z');

/**
 * @typedef {import('./contenders.mjs').Contender} Contender
 * @typedef {{ rate: number, serverCpu: number, clientCpu: number, bytes: number }} Figures
 * events per second, µs of CPU per event, bytes per player
 */

/**
 * Runs the contenders in turn on the same events. First, every player scores once; this is not
 * timed. Then random players score, in short timed rounds. Other work on the machine slows all
 * contenders equally, and the median ignores rounds in which it slowed only one. Deletes the keys.
 * @param {import('ioredis').Redis} redis @param {{ players: number, events: number }} size
 * @param {readonly Contender[]} contenders
 * @returns {Promise<(Figures & { speed: number })[]>} for each contender; `speed`: the rate of the
 * first contender divided by the rate of this one, the median of the rounds
 */
export async function race(redis, { players, events }, contenders) {
  for (let from = 0; from < players; from += BATCH) {
    const scores = batch(from, Math.min(BATCH, players - from), (index) => from + index);
    for (const contender of contenders) await contender.apply(scores);
  }
  /** @type {Round[][]} */
  const rounds = contenders.map(() => []);
  for (let from = 0; from < events; from += BATCH * BATCHES_PER_ROUND) {
    const batches = Array.from({ length: BATCHES_PER_ROUND }, (_, index) =>
      batch(players + from + index * BATCH, BATCH, () => Math.floor(Math.random() * players)),
    );
    for (const [index, contender] of contenders.entries())
      rounds[index]?.push(await run(redis, contender, batches));
  }
  const results = [];
  for (const [index, { prefix }] of contenders.entries()) {
    const own = rounds[index] ?? [];
    const ratios = own.map(({ ms }, round) => ms / (rounds[0]?.[round]?.ms ?? NaN));
    const bytes = (await deleteKeys(redis, prefix)) / players;
    results.push({ ...figures(own), bytes, speed: median(ratios) });
  }
  return results;
}

/**
 * @typedef {{ ms: number, server: number, client: number }} Round milliseconds, and µs of CPU in
 * Redis and here
 */

/**
 * @param {import('ioredis').Redis} redis @param {Contender} contender
 * @param {ReturnType<typeof batch>[]} batches @returns {Promise<Round>}
 */
export async function run(redis, contender, batches) {
  const server = await redisCpu(redis);
  const client = process.cpuUsage();
  const begin = performance.now();
  for (const scores of batches) await contender.apply(scores);
  const ms = performance.now() - begin;
  const { user, system } = process.cpuUsage(client);
  return { ms, client: user + system, server: (await redisCpu(redis)) - server };
}

/** CPU time, in µs, of the thread that runs commands. @param {import('ioredis').Redis} redis */
export async function redisCpu(redis) {
  const info = await redis.info('cpu');
  return [...info.matchAll(/used_cpu_(?:user|sys)_main_thread:([\d.]+)/g)]
    .map(([, seconds]) => Number(seconds) * 1e6)
    .reduce((sum, part) => sum + part, 0);
}

/** @param {Round[]} rounds @returns {Omit<Figures, 'bytes'>} */
function figures(rounds) {
  const events = BATCH * BATCHES_PER_ROUND;
  return {
    rate: events / (median(rounds.map(({ ms }) => ms)) / 1_000),
    serverCpu: median(rounds.map(({ server }) => server)) / events,
    clientCpu: median(rounds.map(({ client }) => client)) / events,
  };
}

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** @param {number} from @param {number} size @param {(index: number) => number} player */
export function batch(from, size, player) {
  return Array.from({ length: size }, (_, index) => ({
    player: `player-${player(index)}`,
    delta: 1 + Math.floor(Math.random() * 1_000),
    time: T0 + from + index,
  }));
}

/**
 * Deletes the keys. Returns their bytes without the outbox, which is empty once results are
 * published.
 * @param {import('ioredis').Redis} redis @param {string} prefix
 */
export async function deleteKeys(redis, prefix) {
  let bytes = 0;
  for (const key of await redis.keys(`${prefix}*`)) {
    if (!key.includes(':outbox:')) bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    await redis.unlink(key);
  }
  return bytes;
}
