import { resolveEvent, type BoardDefinition, type EventRejectionCode } from '#board';
import type { DecodedScoreEvent } from '#contracts';

/** Some of the log's records, from several places of it. */
export interface LogSample {
  /** Those that are score events, of whatever board. */
  readonly events: readonly SampledEvent[];
  /** How many records were looked at, of how many there are. */
  readonly records: number;
  readonly total: number;
  /** Records that were read and decoded in a second; null when too few for a rate. */
  readonly rate: number | null;
}
export interface SampledEvent extends DecodedScoreEvent {
  /** Of the record, in ms. */
  readonly timestamp: number;
}

/** What a sample says of a board. */
export interface SampleFacts {
  /** Events that the board takes. */
  readonly events: number;
  /** Places of players in views that these events make: each player once in a view. */
  readonly placings: number;
  /** Mean length of a player id in bytes; 0 without events. */
  readonly idBytes: number;
  /** Whether any gives several values to a dimension. */
  readonly hasLists: boolean;
  /** Events of the board that it can't take, by reason. */
  readonly rejected: ReadonlyMap<EventRejectionCode, number>;
}

/** What of a sample a definition takes, and what comes of it. Cost: linear in the sample and the views of its events. */
export function sampleFacts(definition: BoardDefinition, { events }: LogSample): SampleFacts {
  const placings = new Set<string>();
  const rejected = new Map<EventRejectionCode, number>();
  const dimensions = new Set(definition.dimensions.flat());
  let taken = 0;
  let idBytes = 0;
  let hasLists = false;
  for (const event of events) {
    if (event.board !== definition.board) continue;
    hasLists ||= givesList(event, dimensions);
    const resolved = resolveEvent(definition, event, event.timestamp);
    if (!resolved.ok) {
      const { code } = resolved.rejection;
      rejected.set(code, (rejected.get(code) ?? 0) + 1);
      continue;
    }
    taken += 1;
    idBytes += Buffer.byteLength(event.playerId);
    for (const { view } of resolved.event.views) placings.add(`${view}\n${event.playerId}`);
  }
  return {
    events: taken,
    placings: placings.size,
    idBytes: taken === 0 ? 0 : idBytes / taken,
    hasLists,
    rejected,
  };
}

function givesList({ attributes }: SampledEvent, dimensions: ReadonlySet<string>): boolean {
  return Object.entries(attributes).some(
    ([name, value]) => dimensions.has(name) && typeof value !== 'string',
  );
}
