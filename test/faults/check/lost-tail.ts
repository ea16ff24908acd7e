import type { BoardDefinition, ResolvedEvent } from '#board';
import { comparePlayers, type Players } from '../../model/oracle-ranks.js';
import { updatedState, type OracleState } from '../../model/oracle-update.js';

/**
 * The events of a partition, in the order of its log, that were applied but not published when Redis lost them. They are
 * applied and published again later. Ranks of other players that were computed before the loss rightly counted the events
 * that were on the board then. How many these were is unknown, but they are always the first events of the tail.
 */
export type LostTail = readonly ResolvedEvent[];

/** The player of a rank change, with the states before and after. */
export interface Mover {
  readonly playerId: string;
  readonly before: OracleState | undefined;
  readonly after: OracleState;
}

/** Rank and competition rank before, then both after. 0 for a rank that is not published; a new player has 0 before. */
export type Places = readonly [number, number, number, number];

/**
 * Returns all places that a rank change can have. They are computed on boards with the published events and any number of the
 * first events of each lost tail.
 */
export function possiblePlaces(
  definition: BoardDefinition,
  mover: Mover,
  { players, tails }: { players: Players; tails: readonly LostTail[] },
): Set<string> {
  const touched = new Set(tails.flatMap((events) => events.map(({ playerId }) => playerId)));
  const rest = new Map([...players].filter(([id]) => id !== mover.playerId && !touched.has(id)));
  const competition = publishesCompetition(definition) ? 1 : 0;
  const isThere = mover.before === undefined ? 0 : 1;
  const own: Places = [isThere, isThere * competition, 1, competition];
  let sums = [added(own, playersAhead(definition, mover, rest))];
  for (const tail of tails) {
    const counts = countsWhileApplied(definition, mover, { players, tail });
    sums = distinct(sums.flatMap((sum) => counts.map((count) => added(sum, count))));
  }
  return new Set(sums.map((places) => places.join()));
}

/** Counts the players of a tail who are ahead of the mover: before the tail, and after each event of the tail. */
function countsWhileApplied(
  definition: BoardDefinition,
  mover: Mover,
  { players, tail }: { players: Players; tail: LostTail },
): Places[] {
  const touched = new Map<string, OracleState>();
  for (const { playerId } of tail) {
    const state = players.get(playerId);
    if (state !== undefined) touched.set(playerId, state);
  }
  const counts = [playersAhead(definition, mover, touched)];
  for (const event of tail) {
    const state = updatedState(definition, touched.get(event.playerId), event);
    if (state !== 'outOfRange') touched.set(event.playerId, state);
    counts.push(playersAhead(definition, mover, touched));
  }
  return distinct(counts);
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
