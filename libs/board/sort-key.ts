import type { Ties } from './definition.js';
import { reachTime, type PlayerState } from './state.js';

const TWO_POW_53 = 2 ** 53;

/** Times are stored from the first ms of year 0001, so that they are never negative. */
export const EARLIEST_TIME = Date.parse('0001-01-01T00:00:00.000Z');
export const LATEST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Sort key of a player: Redis orders by score, equal scores by the bytes of the member. A total order. */
export interface SortKey {
  readonly score: number;
  readonly member: Buffer;
}

/**
 * The key that the apply script writes for a state (libs/board-store/lua/apply.lua holds the same rules).
 * Score: the first column. Member: 8 bytes for each further column, 7 for the reach time (none for ties `none`),
 * then the player id. Score and time share no bits, so neither ever loses one.
 */
export function sortKey(state: PlayerState, ties: Ties, playerId: string): SortKey {
  const [first, ...further] = state;
  const parts = further.map(({ value }) => encodeValue(value));
  if (ties !== 'none') parts.push(encodeTime(reachTime(state), ties));
  return { score: first?.value ?? 0, member: Buffer.concat([...parts, Buffer.from(playerId)]) };
}

/** A byte for the sign (0 negative, 1 not), then 7 bytes: byte order is number order over +-(2^53-1). */
function encodeValue(value: number): Buffer {
  const negative = value < 0;
  return Buffer.concat([
    Buffer.of(negative ? 0 : 1),
    bigEndian7(negative ? value + TWO_POW_53 : value),
  ]);
}

function encodeTime(time: number, ties: 'earliest' | 'latest'): Buffer {
  return bigEndian7(ties === 'earliest' ? time - EARLIEST_TIME : LATEST_TIME - time);
}

function bigEndian7(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes.subarray(1);
}
