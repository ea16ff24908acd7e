import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import { parseDefinitionText } from '#board';
import type { Boards } from './generation-types.js';
import type { KeySpace } from './keys.js';
import type { LiveBoard, RecordIdentity, Starts } from './types.js';

/** What `live` holds for a board whose first generation is being built. */
export const BUILDING = '-';

/** The field of `live` with the version of the pointers (lua/pointers.lua). No board has this name. */
export const VERSION = '';

/** Where boards are read: all shards of a Redis, from 0 on. */
interface Place {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly shards: number;
}

/**
 * The boards of all shards, from the pointers and the definitions that they point to. A pointer without a definition is
 * left out: Redis has lost a part. Returns `known` if no version has changed since.
 */
export async function readBoards({ redis, keys, shards }: Place, known?: Boards): Promise<Boards> {
  const versions = await readVersions({ redis, keys, shards });
  if (known !== undefined && isDeepStrictEqual(versions, known.versions)) return known;
  const live = new Map<string, LiveBoard>();
  const building = new Set<string>();
  const removed = new Set<string>();
  for (let shard = 0; shard < shards; shard++) {
    const [pointers, definitions, starts, gone] = await Promise.all([
      redis.hgetall(keys.live(shard)),
      redis.hgetall(keys.definitions(shard)),
      redis.hgetall(keys.starts(shard)),
      redis.smembers(keys.removed(shard)),
    ]);
    for (const board of gone) removed.add(board);
    for (const [board, generation] of Object.entries(pointers)) {
      const text = definitions[generation];
      if (generation === BUILDING) building.add(board);
      else if (text !== undefined)
        live.set(board, liveBoardOf(board, { generation, text, starts: starts[generation] }));
    }
  }
  return { live, building, removed, versions };
}

async function readVersions({ redis, keys, shards }: Place): Promise<string[]> {
  const all = Array.from({ length: shards }, (_, shard) => redis.hget(keys.live(shard), VERSION));
  return (await Promise.all(all)).map((version) => version ?? '');
}

/** A generation out of what Redis holds of it. */
export function liveBoardOf(
  board: string,
  { generation, text, starts }: GenerationTexts,
): LiveBoard {
  const definition = parseDefinitionText(text);
  return typeof starts === 'string'
    ? { board, generation, definition, starts: parseStarts(starts) }
    : { board, generation, definition };
}

interface GenerationTexts {
  readonly generation: string;
  readonly text: string;
  readonly starts: string | null | undefined;
}

export function startsText(starts: Starts): string {
  return JSON.stringify(Object.fromEntries(starts));
}

export function parseStarts(text: string): Starts {
  const offsets = JSON.parse(text) as Record<string, number>;
  return new Map(Object.entries(offsets).map(([partition, from]) => [Number(partition), from]));
}

/** The last applied record of a partition, as Redis keeps it; '' for none. */
export function recordText(record: RecordIdentity | undefined): string {
  return record === undefined ? '' : `${record.offset} ${record.timestamp} ${record.hash}`;
}

/** The reverse; undefined for none. */
export function keptRecord(text: string | null | undefined): RecordIdentity | undefined {
  if (!text) return undefined;
  const [offset, timestamp, hash = ''] = text.split(' ');
  return { offset: Number(offset), timestamp: Number(timestamp), hash };
}
