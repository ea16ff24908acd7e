import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { canExpire } from '#board';
import type { KeySpace } from '#board-store';
import { readBytes, readScores, type BoardPlace } from './store-keys.js';
import type { StoreModel } from './store-model.js';

/** Compares all that Redis holds of a board, also of views that expired and were not swept, with the model. */
export async function compareBoard(
  redis: Redis,
  place: BoardPlace,
  model: StoreModel,
): Promise<void> {
  const { oracle } = model;
  const { keys, shard } = place;
  const { board, generation, definition } = place.live;
  const { views, clock, expired, duplicates, partitions } = oracle.memory(board);
  const versions = await redis.hgetall(keys.views(shard, generation));
  expect(Object.keys(versions).sort()).toEqual([...views.keys()].sort());
  const names = [...views.keys()];
  const found = await Promise.all(names.map((view) => readBytes(redis, place, view)));
  expect(found).toEqual(names.map((view) => oracle.bytes(board, view)));
  const facts = await redis.hgetall(keys.facts(shard, generation));
  expect({ expired: '0', duplicates: '0', ...facts }).toEqual({
    ...(canExpire(definition) && clock > -Infinity ? { clock: String(clock) } : {}),
    ...Object.fromEntries(
      [...partitions].map(([id, known]) => [`clock:${id}`, String(known.clock)]),
    ),
    expired: String(expired),
    duplicates: String(duplicates),
  });
  const ends = [...views].flatMap(([view, { expiresAt }]) =>
    expiresAt === null ? [] : [[view, expiresAt] as const],
  );
  expect(await readScores(redis, keys.expiries(shard, generation))).toEqual(new Map(ends));
  const reported = await redis.hkeys(keys.leaders(shard, board));
  expect(reported.sort()).toEqual(model.reportedViews(board));
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
  model: StoreModel,
): Promise<void> {
  const expected = [keys.shards()];
  for (let shard = 0; shard < shards; shard++)
    expected.push(
      keys.watermarks(shard),
      keys.published(shard),
      keys.registered(shard),
      keys.continuity(shard),
    );
  for (const place of places) expected.push(keys.flips(place.shard), ...keysOf(place, model));
  const found = await redis.keys(`${keys.prefix}:*`);
  expect(found.sort()).toEqual([...new Set(expected)].sort());
}

function keysOf({ keys, shard, live }: BoardPlace, model: StoreModel): string[] {
  const { board, generation, definition } = live;
  const { views, partitions, clock, expired, duplicates } = model.oracle.memory(board);
  const keeps = canExpire(definition) && clock > -Infinity;
  const optional: [boolean, string][] = [
    [views.size > 0, keys.views(shard, generation)],
    [keeps || partitions.size > 0 || expired > 0 || duplicates > 0, keys.facts(shard, generation)],
    [
      [...views.values()].some(({ expiresAt }) => expiresAt !== null),
      keys.expiries(shard, generation),
    ],
    [model.reportedViews(board).length > 0, keys.leaders(shard, board)],
    ...[...partitions].map(([partition, known]): [boolean, string] => [
      [...known.remembered.values()].some((time) => time > known.clock - definition.deduplicateMs!),
      keys.eventIds(shard, generation, partition),
    ]),
  ];
  return [
    keys.live(shard),
    keys.definitions(shard),
    ...optional.flatMap(([there, key]) => (there ? [key] : [])),
    ...[...views.keys()].flatMap((view) => [
      keys.ranking(shard, generation, view),
      keys.players(shard, generation, view),
    ]),
  ];
}
