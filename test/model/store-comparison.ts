import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { canExpire } from '#board';
import type { Boards, KeySpace } from '#board-store';
import type { Oracle } from './oracle.js';
import { readBytes, readScores, type BoardPlace } from './store-keys.js';
import type { StoreModel } from './store-model.js';

/** Where the reports of a board are. */
export interface ReportPlace {
  readonly keys: KeySpace;
  readonly shard: number;
  readonly board: string;
}

/** Compares all that Redis holds of a live board, also of views that expired and were not swept, with the model. */
export async function compareBoard(
  redis: Redis,
  place: BoardPlace,
  model: StoreModel<Oracle>,
): Promise<void> {
  await compareGeneration(redis, place, model.oracle);
  await compareReports(redis, { ...place, board: place.live.board }, model);
}

/** The views of which a report of leaders is kept. */
export async function compareReports(
  redis: Redis,
  { keys, shard, board }: ReportPlace,
  model: StoreModel,
): Promise<void> {
  const reported = await redis.hkeys(keys.leaders(shard, board));
  expect(reported.sort()).toEqual(model.reportedViews(board));
}

/** Compares what Redis holds of a generation with its oracle. */
export async function compareGeneration(
  redis: Redis,
  place: BoardPlace,
  oracle: Oracle,
  isRanked = true,
): Promise<void> {
  const { keys, shard } = place;
  const { board, generation, definition } = place.live;
  const { views, clock, expired, duplicates, refused, partitions } = oracle.memory(board);
  const versions = await redis.hgetall(keys.views(shard, generation));
  expect(Object.keys(versions).sort()).toEqual([...views.keys()].sort());
  const names = [...views.keys()];
  const found = await Promise.all(names.map((view) => readBytes(redis, place, view)));
  expect(found).toEqual(
    names.map((view) => {
      const expected = oracle.bytes(board, view);
      return isRanked ? expected : { ...expected, ranking: [] };
    }),
  );
  const facts = await redis.hgetall(keys.facts(shard, generation));
  delete facts['floor']; // of view versions, which are Redis' own, as is the largest
  delete facts['version'];
  expect({ expired: '0', duplicates: '0', tooManyViews: '0', ...facts }).toEqual({
    ...(canExpire(definition) && clock > -Infinity ? { clock: String(clock) } : {}),
    ...Object.fromEntries(
      [...partitions].map(([id, known]) => [`clock:${id}`, String(known.clock)]),
    ),
    expired: String(expired),
    duplicates: String(duplicates),
    tooManyViews: String(refused),
  });
  const ends = [...views].flatMap(([view, { expiresAt }]) =>
    expiresAt === null ? [] : [[view, expiresAt] as const],
  );
  expect(await readScores(redis, keys.expiries(shard, generation))).toEqual(new Map(ends));
  for (const [partition, known] of partitions) {
    const ids = await readScores(redis, keys.eventIds(shard, generation, partition));
    const span = known.clock - (definition.deduplicateMs ?? 0);
    expect(ids).toEqual(new Map([...known.remembered].filter(([, time]) => time > span)));
  }
}

/** Compares the names of all keys with those that the model asks for when all is published: nothing is left over. */
export async function compareKeys(
  redis: Redis,
  { keys, shards, places }: { keys: KeySpace; shards: number; places: readonly BoardPlace[] },
  model: StoreModel<Oracle>,
): Promise<void> {
  const expected = [keys.shards()];
  for (let shard = 0; shard < shards; shard++)
    expected.push(
      keys.live(shard),
      keys.appliedOffsets(shard),
      keys.published(shard),
      keys.registered(shard),
      keys.continuity(shard),
    );
  for (const place of places) {
    expected.push(keys.definitions(place.shard), keys.promotions(place.shard));
    expected.push(
      ...generationKeys(place, model.oracle),
      ...reportKeys({ ...place, board: place.live.board }, model),
    );
  }
  const found = await redis.keys(`${keys.prefix}:*`);
  expect(found.sort()).toEqual([...new Set(expected)].sort());
}

/** The keys of a generation that hold something, but its applied offsets. */
export function generationKeys({ keys, shard, live }: BoardPlace, oracle: Oracle): string[] {
  const { board, generation, definition } = live;
  const { views, partitions, clock, expired, duplicates, refused } = oracle.memory(board);
  const keeps = canExpire(definition) && clock > -Infinity;
  const optional: [boolean, string][] = [
    [views.size > 0, keys.views(shard, generation)],
    [
      views.size > 0 || keeps || partitions.size > 0 || expired + duplicates + refused > 0,
      keys.facts(shard, generation),
    ],
    [
      [...views.values()].some(({ expiresAt }) => expiresAt !== null),
      keys.expiries(shard, generation),
    ],
    ...[...partitions].map(([partition, known]): [boolean, string] => [
      [...known.remembered.values()].some((time) => time > known.clock - definition.deduplicateMs!),
      keys.eventIds(shard, generation, partition),
    ]),
  ];
  return [
    ...optional.flatMap(([there, key]) => (there ? [key] : [])),
    ...[...views.keys()].flatMap((view) => keys.ofView(shard, generation, view)),
  ];
}

export function reportKeys({ keys, shard, board }: ReportPlace, model: StoreModel): string[] {
  return model.reportedViews(board).length > 0 ? [keys.leaders(shard, board)] : [];
}

/** The version of a shard's pointers never goes back, and has grown when its boards have changed. */
export function compareVersions(before: Boards, now: Boards, shardOf: (board: string) => number) {
  const boardsOf = ({ live, building, removed }: Boards, shard: number) => {
    const generations = [...live.values()].map(({ board, generation }) => [board, generation]);
    const all = [generations, [...building].map((board) => [board]), [...removed].map((b) => [b])];
    return all.map((some) => some.filter(([board]) => shardOf(board!) === shard).sort());
  };
  for (const [shard, version] of now.versions.entries()) {
    const moved = parseInt(version) - parseInt(before.versions[shard] ?? '0');
    const isSame = isDeepStrictEqual(boardsOf(before, shard), boardsOf(now, shard));
    expect(moved).toBeGreaterThanOrEqual(isSame ? 0 : 1);
  }
}
