import type { BoardDefinition, Column, Ties } from '#board';
import type { OracleState } from './oracle-update.js';

/**
 * A slow second implementation of the documented formats, independent of the scripts and of
 * libs/board, to check every byte.
 */

const EARLIEST = BigInt(Date.parse('0001-01-01T00:00:00.000Z'));
const LATEST = BigInt(Date.parse('9999-12-31T23:59:59.999Z'));

/**
 * The ZSET member: 8 bytes for each column but the first, 7 for the reach time unless ties are
 * `none`, then the player id.
 */
export function memberOf(state: OracleState, ties: Ties, playerId: string): Buffer {
  const further = state.slice(1).map(({ value }) => valueHex(BigInt(value)));
  return Buffer.concat([
    Buffer.from(further.join('') + timeHex(BigInt(reachTimeOf(state)), ties), 'hex'),
    Buffer.from(playerId, 'utf8'),
  ]);
}

/**
 * The state in the hash: for each column value and time as doubles, then 1, or 0 for a sum that has
 * seen no delta but 0.
 */
export function stateBytes(state: OracleState): Buffer {
  return Buffer.concat(
    state.map(({ value, time, settled }) => {
      const doubles = Buffer.from(Float64Array.of(time, value).buffer).reverse(); // to big-endian
      return Buffer.from([...doubles, settled ? 1 : 0]);
    }),
  );
}

/** The state of a player on a board of one column. */
export const stateOf = (value: number, time = 1) => stateBytes([{ value, time, settled: true }]);

/** The latest of the columns' times. */
export function reachTimeOf(state: OracleState): number {
  return [...state].map(({ time }) => time).sort((a, b) => b - a)[0] ?? 0;
}

/** Column names and exact decimals, every decimal written out. */
export function decimalsOf(
  { columns }: BoardDefinition,
  state: OracleState,
): Record<string, string> {
  const entries = columns.map((column, index) => [
    column.name,
    decimalText(minorUnits(column, state[index]!.value), column.decimals),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function minorUnits({ order }: Column, value: number): bigint {
  return order === 'desc' ? -BigInt(value) : BigInt(value);
}

function decimalText(minor: bigint, decimals: number): string {
  const unit = 10n ** BigInt(decimals);
  const size = minor < 0n ? -minor : minor;
  const fraction = decimals === 0 ? '' : `.${String(size % unit).padStart(decimals, '0')}`;
  return `${minor < 0n ? '-' : ''}${String(size / unit)}${fraction}`;
}

/** A sign byte, then 56 bits: two's complement over 2^53 for negative numbers. */
function valueHex(value: bigint): string {
  return value < 0n ? `00${hex56(2n ** 53n + value)}` : `01${hex56(value)}`;
}

function timeHex(time: bigint, ties: Ties): string {
  if (ties === 'none') return '';
  return hex56(ties === 'earliest' ? time - EARLIEST : LATEST - time);
}

function hex56(value: bigint): string {
  return value.toString(16).padStart(14, '0');
}
