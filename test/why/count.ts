import { compare, type Player } from './players.js';
import type { Placed } from './zset.js';

/** How a board that was shown differs from the exact one. */
export interface Count {
  readonly players: number;
  /** Players whose position is not the exact one. */
  readonly misplaced: number;
  /** Pairs of players of whom the one behind should be in front. */
  readonly pairs: number;
  /** Players whose columns are not the exact ones. */
  readonly scores: number;
}

/** Cost: the square of the number of players. */
export function count(players: readonly Player[], placed: readonly Placed[]): Count {
  const exact = [...players].sort(compare);
  const positions = new Map(exact.map(({ id }, position) => [id, position]));
  const found = placed.map(({ id }) => positions.get(id) ?? NaN);
  if (new Set(found).size !== exact.length || found.includes(NaN))
    throw new Error('the board has other players');
  const right = ({ columns }: Placed, position: number) =>
    exact[position]?.columns.every((value, index) => value === columns[index]) ?? false;
  return {
    players: exact.length,
    misplaced: found.filter((position, index) => position !== index).length,
    pairs: found.reduce((sum, position, index) => sum + smaller(found, position, index), 0),
    scores: placed.filter((each, index) => !right(each, found[index] ?? NaN)).length,
  };
}

/** Several boards counted as one. */
export function total(counts: readonly Count[]): Count {
  const sum = (field: keyof Count) => counts.reduce((sofar, each) => sofar + each[field], 0);
  return {
    players: sum('players'),
    misplaced: sum('misplaced'),
    pairs: sum('pairs'),
    scores: sum('scores'),
  };
}

/** How many of the positions after `index` are smaller than this one. */
function smaller(positions: readonly number[], position: number, index: number): number {
  let sum = 0;
  for (let after = index + 1; after < positions.length; after++)
    if ((positions[after] ?? NaN) < position) sum += 1;
  return sum;
}
