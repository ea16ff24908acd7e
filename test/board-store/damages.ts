import type { Redis } from 'ioredis';
import { readBytes, readScores, type BoardPlace } from '../model/store-keys.js';

/** Damage that a hand can do to a board in Redis. `choice` are random numbers. */
export interface Damage {
  readonly name: string;
  readonly damage: (redis: Redis, place: BoardPlace, choice: readonly number[]) => Promise<unknown>;
}

/** What reads show of a board, and what decides on later ones: its event clock, and its views that have not expired. */
export async function boardContent(redis: Redis, place: BoardPlace) {
  const { keys, shard } = place;
  const { generation } = place.live;
  const clock = await redis.hget(keys.facts(shard, generation), 'clock');
  const ends = await readScores(redis, keys.expiries(shard, generation));
  const views = new Map<string, unknown>();
  for (const view of (await redis.hkeys(keys.views(shard, generation))).sort()) {
    const end = ends.get(view);
    if (end !== undefined && clock !== null && end <= Number(clock)) continue;
    views.set(view, { end, ...(await readBytes(redis, place, view)) });
  }
  return { clock, views };
}

/** The keys of a board, and one of its views by choice. */
async function chosen(
  redis: Redis,
  { keys, shard, live }: BoardPlace,
  [first = 0]: readonly number[],
) {
  const { generation } = live;
  const views = await redis.hkeys(keys.views(shard, generation));
  const view = views.sort()[first % Math.max(1, views.length)] ?? 'all';
  const [ranking, players] = keys.ofView(shard, generation, view);
  return {
    view,
    ranking,
    players,
    views: keys.views(shard, generation),
    expiries: keys.expiries(shard, generation),
    facts: keys.facts(shard, generation),
  };
}

async function chosenMember(redis: Redis, ranking: string, choice: number): Promise<Buffer> {
  const members = await redis.zrangeBuffer(ranking, 0, -1);
  return members[choice % Math.max(1, members.length)] ?? Buffer.from('nobody');
}

async function chosenPlayer(redis: Redis, players: string, choice: number) {
  const states = Object.entries(await redis.hgetall(players)).sort();
  const [playerId = 'nobody', state = '1@1'] = states[choice % Math.max(1, states.length)] ?? [];
  return { playerId, state };
}

type Chosen = Awaited<ReturnType<typeof chosen>>;

function damage(
  name: string,
  act: (redis: Redis, keys: Chosen, choice: readonly [number, number]) => Promise<unknown>,
): Damage {
  return {
    name,
    damage: async (redis, place, choice) => {
      const [, second = 0, third = 0] = choice;
      return act(redis, await chosen(redis, place, choice), [second, third]);
    },
  };
}

export const damages: readonly Damage[] = [
  damage('ZADD of a member', (redis, { ranking }, [score]) =>
    redis.zadd(ranking, score, Buffer.from(`\x00ghost${score}`)),
  ),
  damage('ZADD of a short member', (redis, { ranking }, [score]) =>
    redis.zadd(ranking, score, 'g'),
  ),
  damage('ZADD of a score', async (redis, { ranking }, [member, score]) =>
    redis.zadd(ranking, 'XX', score, await chosenMember(redis, ranking, member)),
  ),
  damage('a second place of a player', async (redis, { ranking }, [member]) => {
    const bytes = Buffer.from(await chosenMember(redis, ranking, member));
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return redis.zadd(ranking, 5, bytes);
  }),
  damage('ZREM', async (redis, { ranking }, [member]) =>
    redis.zrem(ranking, await chosenMember(redis, ranking, member)),
  ),
  damage('DEL of a ranking', (redis, { ranking }) => redis.del(ranking)),
  damage('DEL of players', (redis, { players }) => redis.del(players)),
  damage('DEL of a view', (redis, { ranking, players }) => redis.del(ranking, players)),
  damage('HSET of a value', async (redis, { players }, [player, value]) => {
    const { playerId, state } = await chosenPlayer(redis, players, player);
    return redis.hset(players, playerId, state.replace(/^-?\d+/, String(value)));
  }),
  damage('HSET of a time', async (redis, { players }, [player, time]) => {
    const { playerId, state } = await chosenPlayer(redis, players, player);
    return redis.hset(players, playerId, state.replace(/([@~])-?\d+$/, `$1${time}`));
  }),
  damage('HSET of a mark', async (redis, { players }, [player]) => {
    const { playerId, state } = await chosenPlayer(redis, players, player);
    const other = state.includes('@') ? state.replace('@', '~') : state.replace('~', '@');
    return redis.hset(players, playerId, other);
  }),
  damage('HSET of nonsense', async (redis, { players }, [player]) =>
    redis.hset(players, (await chosenPlayer(redis, players, player)).playerId, '12'),
  ),
  damage('HSET of a player', (redis, { players }, [value]) =>
    redis.hset(players, 'ghost', `${value}@1`),
  ),
  damage('HDEL of a player', async (redis, { players }, [player]) =>
    redis.hdel(players, (await chosenPlayer(redis, players, player)).playerId),
  ),
  damage('HDEL of a view', (redis, { views, view }) => redis.hdel(views, view)),
  damage('HSET of a view', (redis, { views }) => redis.hset(views, 'ghost', 1)),
  damage('DEL of views', (redis, { views }) => redis.del(views)),
  damage('ZREM of an expiry', (redis, { expiries, view }) => redis.zrem(expiries, view)),
  damage('ZADD of an expiry', (redis, { expiries, view }, [time]) =>
    redis.zadd(expiries, 4_000_000_000_000 + time, view),
  ),
  damage('an early expiry', (redis, { expiries, view }, [time]) =>
    redis.zadd(expiries, time, view),
  ),
  damage('DEL of expiries', (redis, { expiries }) => redis.del(expiries)),
  damage('a clock that is ahead', (redis, { facts }, [time]) =>
    redis.hset(facts, 'clock', 4_000_000_000_000 + time),
  ),
  damage('a clock that is behind', (redis, { facts }, [time]) => redis.hset(facts, 'clock', time)),
  damage('HDEL of the clock', (redis, { facts }) => redis.hdel(facts, 'clock')),
];
