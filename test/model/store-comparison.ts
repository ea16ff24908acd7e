import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { canExpire, type BoardDefinition } from '#board';
import { parseBan, type BanEntry, type Boards, type KeySpace } from '#board-store';
import type { GenerationModel, GenerationsModel, Ranked } from './generations-model.js';
import type { BoardMemory, OracleRecord } from './oracle-memory.js';
import type { Oracle, OracleBytes } from './oracle.js';
import { readBytes, readScores, type BoardPlace } from './store-keys.js';
import type { StoreModel } from './store-model.js';
import { keysOf } from '../../scripts/redis-client.mjs';

/** Compares what Redis holds of a generation with its oracle. */
export async function compareGeneration(
  redis: Redis,
  place: BoardPlace,
  oracle: Oracle,
  { ranked = 'all', isLive = true }: { ranked?: Ranked; isLive?: boolean } = {},
): Promise<void> {
  const { keys, shard } = place;
  const { board, generation, definition } = place.live;
  const { views, clock, expired, duplicates, refused, partitions } = oracle.memory(board);
  const { register, unsettled } = oracle.memory(board);
  const versions = await redis.hgetall(keys.views(shard, generation));
  expect(Object.keys(versions).sort()).toEqual([...views.keys()].sort());
  const names = [...views.keys()];
  const isOpen = isUncertain(oracle.memory(board), isLive, ranked);
  const read = async (view: string) =>
    without(isOpen, definition, await readBytes(redis, place, view));
  const found = await Promise.all(names.map(read));
  const bans = await redis.hgetall(keys.bans(shard, generation));
  expect(Object.entries(bans).map(([id, text]) => asRecord(parseBan(id, text)))).toEqual(
    expect.arrayContaining([...register.values()]),
  );
  expect(Object.keys(bans)).toHaveLength(register.size);
  expect(found).toEqual(
    names.map((view, index) => {
      const { players, ranking } = without(isOpen, definition, oracle.bytes(board, view));
      const has = new Set(found[index]!.ranking.map(({ member }) => member));
      const some = {
        none: [],
        some: ranking.filter(({ member }) => has.has(member)),
        all: ranking,
      };
      return { players, ranking: some[ranked] };
    }),
  );
  const facts = await redis.hgetall(keys.facts(shard, generation));
  delete facts['floor']; // the model can't know view versions: their floor, and the largest one
  delete facts['version'];
  expect({ expired: '0', duplicates: '0', tooManyViews: '0', ...facts }).toEqual({
    ...(canExpire(definition) && clock > -Infinity ? { clock: String(clock) } : {}),
    ...Object.fromEntries(
      [...partitions].map(([id, known]) => [`clock:${id}`, String(known.clock)]),
    ),
    expired: String(expired),
    duplicates: String(duplicates),
    tooManyViews: String(refused),
    ...Object.fromEntries(
      [...unsettled].map(([place, { playerId }]) => [`unsettled:${place}`, playerId]),
    ),
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

function asRecord({ playerId, kind, time, partition, offset }: BanEntry): OracleRecord {
  return { playerId, kind, time, partition, offset };
}

/**
 * Of which players the places in a shadow are uncertain: those whose records are not settled, and,
 * before it is ranked, erased ones, whose states the ranking deletes. Of a live generation, every
 * step is known.
 */
function isUncertain({ register, unsettled }: BoardMemory, isLive: boolean, ranked: Ranked) {
  if (isLive) return () => false;
  const open = new Set([...unsettled.values()].map(({ playerId }) => playerId));
  return (playerId: string) =>
    open.has(playerId) || (ranked !== 'all' && register.get(playerId)?.kind === 'erased');
}

/** The bytes of a view without some players. */
function without(
  isLeftOut: (playerId: string) => boolean,
  { columns, ties }: BoardDefinition,
  { ranking, players }: OracleBytes,
): OracleBytes {
  const idFrom = 8 * (columns.length - 1) + (ties === 'none' ? 0 : 7);
  const idOf = (member: string) => Buffer.from(member, 'hex').subarray(idFrom).toString();
  const kept = Object.entries(players).filter(([playerId]) => !isLeftOut(playerId));
  return {
    ranking: ranking.filter(({ member }) => !isLeftOut(idOf(member))),
    players: Object.fromEntries(kept),
  };
}

/** What the key names of boards are made from. */
interface Shards {
  readonly keys: KeySpace;
  readonly shards: number;
  readonly shardOf: (board: string) => number;
}

type OptionalKey = readonly [isThere: boolean, key: string];

/**
 * Compares all key names with the model, once everything is published and swept, and no lease is
 * held.
 */
export async function compareKeys(redis: Redis, place: Shards, model: StoreModel): Promise<void> {
  const { keys, shards, shardOf } = place;
  const { all, live } = model.generations;
  const optional: OptionalKey[] = [];
  const expected = [keys.shards()];
  for (let shard = 0; shard < shards; shard++) {
    expected.push(keys.live(shard), keys.appliedOffsets(shard), keys.published(shard));
    expected.push(keys.registered(shard), keys.continuity(shard));
    optional.push(...shardKeys(place, shard, model.generations));
  }
  for (const generation of all.values())
    optional.push(...generationKeys(place, generation, model.generations));
  for (const board of live.keys())
    optional.push([model.reportedViews(board).length > 0, keys.leaders(shardOf(board), board)]);
  for (const [isThere, key] of optional) if (isThere) expected.push(key);
  // Some views of these may only have players whose places are uncertain.
  const open = [...all.values()].filter(({ board, generation, oracle }) => {
    return live.get(board) !== generation && oracle.memory(board).unsettled.size > 0;
  });
  const isCertain = (key: string) =>
    !open.some(({ board, generation }) => {
      const place = [shardOf(board), generation, ''] as const;
      return key.startsWith(keys.players(...place)) || key.startsWith(keys.ranking(...place));
    });
  const found = await keysOf(redis, `${keys.prefix}:*`);
  const wanted = [...new Set(expected)];
  expect(found.filter(isCertain).sort()).toEqual(wanted.filter(isCertain).sort());
}

function shardKeys(
  { keys, shardOf }: Shards,
  shard: number,
  model: GenerationsModel,
): OptionalKey[] {
  const has = (boards: Iterable<string>) => [...boards].some((board) => shardOf(board) === shard);
  const generations = [...model.all.values()].filter(({ board }) => shardOf(board) === shard);
  return [
    [has(model.promotions.keys()), keys.promotions(shard)],
    [has(model.previous.keys()), keys.previous(shard)],
    [has(model.shadows.keys()), keys.shadows(shard)],
    [has(model.removed), keys.removed(shard)],
    [generations.length > 0, keys.definitions(shard)],
    [generations.some(({ starts }) => starts !== undefined), keys.starts(shard)],
    [generations.some(({ isBegun }) => isBegun), keys.origins(shard)],
  ];
}

function generationKeys(
  { keys, shardOf }: Shards,
  { board, generation, definition, oracle, appliedOffsets }: GenerationModel,
  { promoted, live }: GenerationsModel,
): OptionalKey[] {
  const shard = shardOf(board);
  const memory = oracle.memory(board);
  const { views, partitions, clock, expired, duplicates, refused, register, unsettled } = memory;
  const hasFacts =
    promoted.has(generation) ||
    views.size > 0 ||
    (canExpire(definition) && clock > -Infinity) ||
    partitions.size > 0 ||
    expired + duplicates + refused + unsettled.size > 0;
  const expires = [...views.values()].some(({ expiresAt }) => expiresAt !== null);
  const isApart = live.get(board) !== generation && appliedOffsets.size > 0;
  return [
    [views.size > 0, keys.views(shard, generation)],
    [hasFacts, keys.facts(shard, generation)],
    [expires, keys.expiries(shard, generation)],
    [register.size > 0, keys.bans(shard, generation)],
    [isApart, keys.appliedOffsetsOf(shard, generation)],
    ...[...partitions].map(([partition, known]): OptionalKey => [
      [...known.remembered.values()].some((time) => time > known.clock - definition.deduplicateMs!),
      keys.eventIds(shard, generation, partition),
    ]),
    ...[...views].flatMap(([view, { players, placed }]): OptionalKey[] => [
      [placed.size > 0, keys.ranking(shard, generation, view)],
      [players.size > 0, keys.players(shard, generation, view)],
    ]),
  ];
}

/**
 * Checks the version of a shard's pointers (per board, a pointer names the live generation): the
 * version never decreases, and it has grown if the shard's boards have changed.
 */
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
