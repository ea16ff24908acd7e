import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { KeySpace } from '#board-store';
import type { GenerationModel, GenerationsModel } from './generations-model.js';
import { generationKeys, reportKeys } from './store-comparison.js';
import type { StoreModel } from './store-model.js';

/** Where the keys of boards are. */
interface Shards {
  readonly keys: KeySpace;
  readonly shards: number;
  readonly shardOf: (board: string) => number;
}

type Model = StoreModel<GenerationsModel>;
type OptionalKey = readonly [isThere: boolean, key: string];

/** Compares the names of all keys with those that the model asks for when all is published, no lease is held and no memory is to be given back. */
export async function compareGenerationKeys(
  redis: Redis,
  place: Shards,
  model: Model,
): Promise<void> {
  const { keys, shards } = place;
  const expected = [keys.shards()];
  for (let shard = 0; shard < shards; shard++) {
    expected.push(keys.live(shard), keys.appliedOffsets(shard), keys.published(shard));
    expected.push(keys.registered(shard), keys.continuity(shard));
    const optional = [...shardKeys(place, shard, model), ...allGenerationKeys(place, shard, model)];
    expected.push(...optional.flatMap(([isThere, key]) => (isThere ? [key] : [])));
  }
  const found = await redis.keys(`${keys.prefix}:*`);
  expect(found.sort()).toEqual([...new Set(expected)].sort());
}

function shardKeys({ keys, shardOf }: Shards, shard: number, { oracle }: Model): OptionalKey[] {
  const isHere = (board: string) => shardOf(board) === shard;
  const has = (boards: Iterable<string>) => [...boards].some(isHere);
  const generations = [...oracle.generations.values()].filter(({ board }) => isHere(board));
  return [
    [has(oracle.promotions.keys()), keys.promotions(shard)],
    [has(oracle.previous.keys()), keys.previous(shard)],
    [has(oracle.shadows.keys()), keys.shadows(shard)],
    [has(oracle.removed), keys.removed(shard)],
    [generations.length > 0, keys.definitions(shard)],
    [generations.some(({ starts }) => starts !== undefined), keys.starts(shard)],
    [generations.some(({ isBegun }) => isBegun), keys.origins(shard)],
    [generations.some(({ generation }) => oracle.snapshots.has(generation)), keys.snapshots(shard)],
  ];
}

function allGenerationKeys(place: Shards, shard: number, model: Model): OptionalKey[] {
  const { generations, live } = model.oracle;
  const isHere = (board: string) => place.shardOf(board) === shard;
  const { keys } = place;
  const found = [...generations.values()].filter(({ board }) => isHere(board));
  const boards = [...live.keys()].filter(isHere);
  const reported = boards.flatMap((board) => reportKeys({ keys, shard, board }, model));
  return [
    ...found.flatMap((generation) => keysOf(place, generation, model)),
    ...reported.map((key): OptionalKey => [true, key]),
  ];
}

function keysOf(
  { keys, shardOf }: Shards,
  generation: GenerationModel,
  { oracle: { promoted, live } }: Model,
): OptionalKey[] {
  const { board, generation: id, appliedOffsets } = generation;
  const shard = shardOf(board);
  const place = { keys, shard, live: generation };
  return [
    ...generationKeys(place, generation.oracle).map((key): OptionalKey => [true, key]),
    [promoted.has(id), keys.facts(shard, id)],
    [live.get(board) !== id && appliedOffsets.size > 0, keys.appliedOffsetsOf(shard, id)],
  ];
}
