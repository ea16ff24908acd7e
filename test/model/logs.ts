import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent } from '#board';
import { PLAYER_IDS } from './arbitrary.js';
import { eventArbitrary } from './inputs.js';

/** Random logs: events that their boards take, records that no board does, and offsets of control records between them. */

/** One record of a random log. `gap` is how many offsets (of control records) come before it. */
export type LogRecord = { readonly gap: number } & (
  | { readonly kind: 'event'; readonly board: number; readonly event: ResolvedEvent }
  | { readonly kind: 'deadLetter'; readonly code: string; readonly detail: string }
);

/** How many players a partition has: few, so that they meet again. */
const PLAYERS = 5;

interface LogShape {
  readonly partitions: number;
  readonly records: number;
  /** Whether all events of a player are in one partition. */
  readonly keyed: boolean;
}

/** A log for each partition. */
export function logsArbitrary(
  definitions: readonly BoardDefinition[],
  { partitions, records, keyed }: LogShape,
): fc.Arbitrary<LogRecord[][]> {
  const logs = Array.from({ length: partitions }, (_, partition) => {
    const own = PLAYER_IDS.filter((_id, index) => index % partitions === partition);
    const players = keyed ? own : PLAYER_IDS;
    return fc.array(recordArbitrary(definitions, players.slice(0, PLAYERS)), {
      maxLength: records,
      size: 'max',
    });
  });
  return fc.tuple(...logs);
}

function recordArbitrary(
  definitions: readonly BoardDefinition[],
  players: readonly string[],
): fc.Arbitrary<LogRecord> {
  const gap = fc.constantFrom(0, 0, 0, 0, 1, 3);
  const events = definitions.map((definition, board) => ({
    weight: 8,
    arbitrary: fc
      .tuple(gap, eventArbitrary(definition, players))
      .map(([before, event]) => ({ gap: before, kind: 'event', board, event }) as const),
  }));
  return fc.oneof(...events, {
    weight: 1,
    arbitrary: fc.record({
      gap,
      kind: fc.constant('deadLetter' as const),
      code: fc.constantFrom('INVALID_JSON', 'UNKNOWN_BOARD'),
      detail: fc.constantFrom('', 'two\nlines', 'é "quoted"\t, with a tab'),
    }),
  });
}
