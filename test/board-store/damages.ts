import type { Redis } from 'ioredis';
import { stateOf } from '../model/oracle-format.js';
import type { BoardPlace } from '../model/store-keys.js';

/**
 * Damage that somebody can do to a board in Redis. `choice`: random numbers for the view, the
 * player and the value.
 */
export interface Damage {
  readonly name: string;
  readonly damage: (redis: Redis, place: BoardPlace, choice: readonly number[]) => Promise<unknown>;
}

/**
 * Selects a view, and in the view a member of the ranking and a player. Returns them with the keys
 * of the view and the board.
 */
async function chosen(
  redis: Redis,
  { keys, shard, live: { generation } }: BoardPlace,
  [first = 0, second = 0]: readonly number[],
) {
  const names = (await redis.hkeys(keys.views(shard, generation))).sort();
  const view = names[first % Math.max(1, names.length)] ?? 'all';
  const [ranking, players] = keys.ofView(shard, generation, view);
  const members = await redis.zrangeBuffer(ranking, 0, -1);
  const states = Object.entries(await redis.hgetallBuffer(players)).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const [playerId, state] = states[second % Math.max(1, states.length)] ?? ['nobody', stateOf(1)];
  return {
    ...{ view, ranking, players, playerId, state },
    member: members[second % Math.max(1, members.length)] ?? Buffer.from('nobody'),
    views: keys.views(shard, generation),
    expiries: keys.expiries(shard, generation),
    facts: keys.facts(shard, generation),
  };
}

type Chosen = Awaited<ReturnType<typeof chosen>>;
type Act = (redis: Redis, place: Chosen, value: number) => Promise<unknown>;

/** In 2096: later than any event of a board whose views can expire. */
const FAR = 4_000_000_000_000;

/** A changed copy. */
function changed(state: Buffer, change: (bytes: Buffer) => unknown): Buffer {
  const copy = Buffer.from(state);
  change(copy);
  return copy;
}

const ACTS: Record<string, Act> = {
  'ZADD of a member': (redis, { ranking }, value) =>
    redis.zadd(ranking, value, Buffer.from(`\x00ghost${value}`)),
  'ZADD of a short member': (redis, { ranking }, value) => redis.zadd(ranking, value, 'g'),
  'ZADD of a score': (redis, { ranking, member }, value) =>
    redis.zadd(ranking, 'XX', value, member),
  'a second member of a player': (redis, { ranking, member }) => {
    const bytes = Buffer.from(member);
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return redis.zadd(ranking, 5, bytes);
  },
  ZREM: (redis, { ranking, member }) => redis.zrem(ranking, member),
  'DEL of a ranking': (redis, { ranking }) => redis.del(ranking),
  'DEL of players': (redis, { players }) => redis.del(players),
  'DEL of a view': (redis, { ranking, players }) => redis.del(ranking, players),
  'HSET of a value': (redis, { players, playerId, state }, value) =>
    redis.hset(
      players,
      playerId,
      changed(state, (bytes) => bytes.writeDoubleBE(value, 0)),
    ),
  'HSET of a time': (redis, { players, playerId, state }, value) =>
    redis.hset(
      players,
      playerId,
      changed(state, (bytes) => bytes.writeDoubleBE(value, bytes.length - 9)),
    ),
  // The mark of the first column: 1 if it is settled, 0 if it is a sum that has seen no delta but
  // 0.
  'HSET of the other mark (settled or not)': (redis, { players, playerId, state }) =>
    redis.hset(
      players,
      playerId,
      changed(state, (bytes) => bytes.writeUInt8(1 - bytes.readUInt8(16), 16)),
    ),
  'HSET of nonsense': (redis, { players, playerId }) => redis.hset(players, playerId, '12'),
  'HSET of a player': (redis, { players }, value) => redis.hset(players, 'ghost', stateOf(value)),
  'HDEL of a player': (redis, { players, playerId }) => redis.hdel(players, playerId),
  'HDEL of a view': (redis, { views, view }) => redis.hdel(views, view),
  'HSET of a view': (redis, { views }) => redis.hset(views, 'ghost', 1),
  'DEL of views': (redis, { views }) => redis.del(views),
  'ZREM of an expiry': (redis, { expiries, view }) => redis.zrem(expiries, view),
  'ZADD of an expiry': (redis, { expiries, view }, value) =>
    redis.zadd(expiries, FAR + value, view),
  'an early expiry': (redis, { expiries, view }, value) => redis.zadd(expiries, value, view),
  'DEL of expiries': (redis, { expiries }) => redis.del(expiries),
  'a clock that is ahead': (redis, { facts }, value) => redis.hset(facts, 'clock', FAR + value),
  'a clock that is behind': (redis, { facts }, value) => redis.hset(facts, 'clock', value),
  'HDEL of the clock': (redis, { facts }) => redis.hdel(facts, 'clock'),
};

export const damages: readonly Damage[] = Object.entries(ACTS).map(([name, act]) => ({
  name,
  damage: async (redis, place, choice) =>
    act(redis, await chosen(redis, place, choice), choice[2] ?? 0),
}));
