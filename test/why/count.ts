import { format } from 'prettier';
import { compare, type Player } from './players.js';
import type { Placed } from './zset.js';

/** How a displayed board differs from the exact one. */
export interface Count {
  readonly players: number;
  /** Players at a wrong position. */
  readonly misplaced: number;
  /** Pairs of players in the wrong order. */
  readonly pairs: number;
  /** Players with wrong columns. */
  readonly scores: number;
}

/**
 * Compares a displayed board with the exact one. The time grows with the square of the number of
 * players.
 */
export function count(players: readonly Player[], placed: readonly Placed[]): Count {
  const exact = [...players].sort(compare);
  const positions = new Map(exact.map(({ id }, position) => [id, position]));
  const found = placed.map(({ id }) => positions.get(id) ?? NaN);
  if (placed.length !== exact.length) throw new Error('the board has more or fewer players');
  const isRight = ({ columns }: Placed, index: number) =>
    exact[found[index] ?? NaN]?.columns.every((value, column) => value === columns[column]);
  const behind = (index: number) =>
    found.slice(index + 1).filter((position) => position < (found[index] ?? NaN)).length;
  return {
    players: exact.length,
    misplaced: found.filter((position, index) => position !== index).length,
    pairs: found.reduce((sum, _, index) => sum + behind(index), 0),
    scores: placed.filter((each, index) => !isRight(each, index)).length,
  };
}

/** The sum of several counts. */
export function total(counts: readonly Count[]): Count {
  const sum = (field: keyof Count) => counts.reduce((sofar, each) => sofar + each[field], 0);
  return {
    players: sum('players'),
    misplaced: sum('misplaced'),
    pairs: sum('pairs'),
    scores: sum('scores'),
  };
}

/** A row of a table: a recipe or ranklog, and its count. */
export interface Row {
  readonly name: string;
  readonly count: Count;
  /** The largest score up to which the recipe distinguishes two ticks of its clock. */
  readonly holdsTo?: number;
}

/** The counts of a board as a Markdown table, formatted by prettier. */
export async function table(title: string, rows: readonly Row[]): Promise<string> {
  const hasLimits = rows.some(({ holdsTo }) => holdsTo !== undefined);
  const limits = (text: string) => (hasLimits ? [text] : []);
  const header = ['ranked by', 'in the wrong place', 'pairs in the wrong order', 'wrong scores'];
  const cells = [
    [...header, ...limits('exact up to')],
    ['-', '-:', '-:', '-:', ...limits('-:')],
    ...rows.map(({ name, count: { misplaced, pairs, scores }, holdsTo }) => [
      name,
      ...[misplaced, pairs, scores].map(grouped),
      ...limits(holdsTo === undefined ? '' : grouped(holdsTo)),
    ]),
  ];
  const lines = cells.map((line) => `| ${line.join(' | ')} |`);
  const text = await format([`### ${title}`, '', ...lines].join('\n'), { parser: 'markdown' });
  return text.trimEnd();
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
