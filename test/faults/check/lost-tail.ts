import type { BoardDefinition, ResolvedEvent } from '#board';
import { comparePlayers, type Players } from '../../model/oracle-ranks.js';
import { updatedState, type OracleState } from '../../model/oracle-update.js';

/**
 * What was applied, but not published, when Redis lost it, is applied and published again later. Ranks that others were
 * told in between counted it in, rightly: it was on the board. How far each partition had come, nobody can tell
 * afterwards; but what was lost is always the first of what the partition published later.
 */
export interface LostTail {
  readonly partition: number;
  /** In the order of the log. */
  readonly events: readonly ResolvedEvent[];
}

/** A player who is told a rank, and the states before (undefined for none) and after. */
export interface Mover {
  readonly playerId: string;
  readonly before: OracleState | undefined;
  readonly after: OracleState;
}

/** Rank and competition rank before (0 where the player was not there) and after; 0 for a rank that the board does not tell. */
export type Places = readonly [number, number, number, number];

/**
 * All places that a player may rightly have been told: on the board as the published events make it, and as many of the
 * first events of each lost tail.
 */
export function possiblePlaces(
  definition: BoardDefinition,
  mover: Mover,
  { players, tails }: { players: Players; tails: readonly LostTail[] },
): Set<string> {
  const touched = new Set(tails.flatMap(({ events }) => events.map(({ playerId }) => playerId)));
  const rest = new Map([...players].filter(([id]) => id !== mover.playerId && !touched.has(id)));
  const told = tellsCompetition(definition) ? 1 : 0;
  const own: Places = [mover.before ? 1 : 0, mover.before ? told : 0, 1, told];
  let sums = [added(own, ahead(definition, mover, rest))];
  for (const tail of tails) {
    const counts = countsWhileApplied(definition, mover, { players, tail });
    sums = distinct(sums.flatMap((sum) => counts.map((count) => added(sum, count))));
  }
  return new Set(sums.map((places) => places.join()));
}

/** How many players of a tail are in front of the mover, after each of its events. */
function countsWhileApplied(
  definition: BoardDefinition,
  mover: Mover,
  { players, tail }: { players: Players; tail: LostTail },
): Places[] {
  const touched = new Map<string, OracleState>();
  for (const event of tail.events) {
    const state = players.get(event.playerId);
    if (state !== undefined) touched.set(event.playerId, state);
  }
  const counts = [ahead(definition, mover, touched)];
  for (const event of tail.events) {
    const state = updatedState(definition, touched.get(event.playerId), event);
    if (state !== 'outOfRange') touched.set(event.playerId, state);
    counts.push(ahead(definition, mover, touched));
  }
  return distinct(counts);
}

function ahead(
  definition: BoardDefinition,
  { playerId, before, after }: Mover,
  players: Players,
): Places {
  const others = [...players].map(([id, state]) => ({ playerId: id, state }));
  const inFrontOf = (state: OracleState | undefined): [number, number] => {
    if (state === undefined) return [0, 0];
    const me = { playerId, state };
    return [
      others.filter((other) => comparePlayers(definition, other, me) < 0).length,
      tellsCompetition(definition)
        ? others.filter((other) => compareValues(other.state, state) < 0).length
        : 0,
    ];
  };
  return [...inFrontOf(before), ...inFrontOf(after)];
}

function tellsCompetition({ publish }: BoardDefinition): boolean {
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
