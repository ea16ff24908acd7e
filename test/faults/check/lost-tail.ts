import type { BoardDefinition } from '#board';
import { comparePlayers, type Players } from '../../model/oracle-ranks.js';
import type { OracleState } from '../../model/oracle-update.js';

/**
 * The records of a partition, in the order of its log, that were applied but not published when
 * Redis lost them. They are applied and published again later. Ranks of other players that were
 * computed before the loss rightly counted the records that were on the board then. How many these
 * were is unknown, but they are always the first records of the tail.
 */
export interface LostTail {
  /** The players of the records. */
  readonly touched: ReadonlySet<string>;
  /** Which of these players were in the ranking: before the tail, and after each record of it. */
  readonly stages: readonly Players[];
}

/**
 * The player of a rank change, with the states before and after; undefined while the player is in
 * no ranking.
 */
export interface Mover {
  readonly playerId: string;
  readonly before: OracleState | undefined;
  readonly after: OracleState | undefined;
}

/**
 * Rank and competition rank before, then both after. 0 for a rank that is not published; a player
 * who enters the view has 0 before, one who leaves it 0 after.
 */
export type Places = readonly [number, number, number, number];

/**
 * Returns all places that a rank change can have. They are computed on boards with the published
 * records and any number of the first records of each lost tail.
 */
export function possiblePlaces(
  definition: BoardDefinition,
  mover: Mover,
  { players, tails }: { players: Players; tails: readonly LostTail[] },
): Set<string> {
  const touched = new Set(tails.flatMap((tail) => [...tail.touched]));
  const rest = new Map([...players].filter(([id]) => id !== mover.playerId && !touched.has(id)));
  const competition = publishesCompetition(definition) ? 1 : 0;
  const [isIn, comesIn] = [mover.before, mover.after].map((state) => (state ? 1 : 0)) as [
    number,
    number,
  ];
  const own: Places = [isIn, isIn * competition, comesIn, comesIn * competition];
  let sums = [added(own, playersAhead(definition, mover, rest))];
  for (const tail of tails) {
    const counts = distinct(tail.stages.map((stage) => playersAhead(definition, mover, stage)));
    sums = distinct(sums.flatMap((sum) => counts.map((count) => added(sum, count))));
  }
  return new Set(sums.map((places) => places.join()));
}

function playersAhead(
  definition: BoardDefinition,
  { playerId, before, after }: Mover,
  players: Players,
): Places {
  const others = [...players].map(([id, state]) => ({ playerId: id, state }));
  const aheadOf = (state: OracleState | undefined): [number, number] => {
    if (state === undefined) return [0, 0];
    const me = { playerId, state };
    return [
      others.filter((other) => comparePlayers(definition, other, me) < 0).length,
      publishesCompetition(definition)
        ? others.filter((other) => compareValues(other.state, state) < 0).length
        : 0,
    ];
  };
  return [...aheadOf(before), ...aheadOf(after)];
}

function publishesCompetition({ publish }: BoardDefinition): boolean {
  return publish.ranks.includes('competition');
}

function compareValues(a: OracleState, b: OracleState): number {
  const index = a.findIndex(({ value }, place) => value !== b[place]?.value);
  return index < 0 ? 0 : (a[index]?.value ?? 0) - (b[index]?.value ?? 0);
}

function added(a: Places, b: Places): Places {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
}

function distinct(all: readonly Places[]): Places[] {
  return [...new Map(all.map((places) => [places.join(), places])).values()];
}
