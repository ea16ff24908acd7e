import { isDeepStrictEqual } from 'node:util';
import { parseDefinitionText } from '#board';
import type { Boards, ShadowPurpose } from './generation-types.js';
import type { KeySpace } from './keys.js';
import type { LiveBoard, RecordIdentity, Starts } from './types.js';
import type { RedisClient } from './redis-client.js';
import { readHash } from './scans.js';

/** The pointer of a board whose first generation is being built. */
export const BUILDING = '-';

/** The field of `live` with the version of the pointers: see lua/includes/shard.lua. */
export const VERSION = '';

/** The identity in a version of the pointers; '' if it has none. */
export function identityIn(version: string): string {
  return version.replace(/^\d+ ?/, '');
}

/**
 * Reads the boards of shards. Leaves out boards whose definition Redis has lost. Returns `known`
 * itself if no version has changed.
 */
export async function readBoards(
  redis: RedisClient,
  keys: KeySpace,
  shards: readonly number[],
  known?: Boards,
): Promise<Boards> {
  const versions = await Promise.all(
    shards.map(async (shard) => (await redis.hget(keys.live(shard), VERSION)) ?? ''),
  );
  if (known !== undefined && isDeepStrictEqual(versions, known.versions)) return known;

  const live = new Map<string, LiveBoard>();
  const building = new Set<string>();
  const removed = new Set<string>();
  for (const shard of shards) {
    const [pointers, definitions, starts, removedHere] = await Promise.all([
      readHash(redis, keys.live(shard)),
      readHash(redis, keys.definitions(shard)),
      readHash(redis, keys.starts(shard)),
      redis.smembers(keys.removed(shard)),
    ]);
    for (const board of removedHere) removed.add(board);
    for (const [board, generation] of pointers) {
      if (generation === BUILDING) {
        building.add(board);
        continue;
      }
      const text = definitions.get(generation);
      if (text !== undefined)
        live.set(board, liveBoardOf(generation, text, starts.get(generation)));
    }
  }
  return { live, building, removed, versions };
}

/** Makes a generation from its id, and from the texts of its definition and starts in Redis. */
export function liveBoardOf(generation: string, text: string, starts?: string | null): LiveBoard {
  const definition = parseDefinitionText(text);
  const { board } = definition;
  return { board, generation, definition, ...(starts && { starts: parseStarts(starts) }) };
}

/**
 * Why and when (in ms) a generation was begun: see NewShadow. Empty for a generation that
 * registerBoards made live.
 */
export interface Origin {
  readonly purpose?: ShadowPurpose | undefined;
  readonly begunAt?: number | undefined;
  readonly asOf?: number | undefined;
  readonly ends?: Starts | undefined;
}

export function originText({ ends, ...facts }: Origin): string {
  return JSON.stringify({ ...facts, ends: ends && startsText(ends) });
}

export function parseOrigin(text: string | null | undefined): Origin {
  if (text === null || text === undefined) return {};
  const { ends, ...facts } = JSON.parse(text) as Omit<Origin, 'ends'> & { ends?: string };
  return { ...facts, ends: ends === undefined ? undefined : parseStarts(ends) };
}

/** Starts as a text; '' for the whole log. */
export function startsText(starts: Starts | undefined): string {
  return starts === undefined ? '' : JSON.stringify(Object.fromEntries(starts));
}

function parseStarts(text: string): Starts {
  return offsetsOf(JSON.parse(text) as Record<string, number>);
}

/** Offsets by partition, from a hash in Redis or from JSON. */
export function offsetsOf(hash: Readonly<Record<string, string | number>>): Map<number, number> {
  const offsets = new Map<number, number>();
  for (const [partition, offset] of Object.entries(hash))
    offsets.set(Number(partition), Number(offset));
  return offsets;
}

/** The last applied record of a partition, as Redis stores it; '' for none. */
export function recordText(record: RecordIdentity | undefined): string {
  return record === undefined ? '' : `${record.offset} ${record.timestamp} ${record.hash}`;
}

export function parseRecord(text: string | null | undefined): RecordIdentity | undefined {
  if (text === null || text === undefined || text === '') return undefined;

  const [offset, timestamp, hash = ''] = text.split(' ');
  return { offset: Number(offset), timestamp: Number(timestamp), hash };
}

/** Orders by the name of the board. */
export function byBoard(
  one: { readonly board: string },
  other: { readonly board: string },
): number {
  if (one.board < other.board) return -1;
  if (one.board > other.board) return 1;
  return 0;
}
