import {
  isVoided,
  resolveEvent,
  type BoardDefinition,
  type EventRejectionCode,
  type EventResolution,
  type ResolvedEvent,
} from '#board';
import type { LiveBoard } from '#board-store';
import { isRepeat, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/** What an event did on its board, as ingest decided it. */
export interface EventEffect {
  readonly effect: 'counts' | 'voided' | 'duplicate' | 'repeat' | `refused: ${EventRejectionCode}`;
  readonly resolution: EventResolution;
  readonly isVoided: boolean;
}

type Identified = Pick<ResolvedEvent, 'playerId' | 'eventId' | 'occurredAt'>;

/** Old ids are deleted at this number of ids, and each time that the number doubles. */
const FIRST_FORGET = 10_000;

/** Finds duplicates among a board's events in one partition, as lua/includes/board.lua does. */
class DuplicateFinder {
  /** The latest time of the board's events in the partition. */
  #clock = -Infinity;
  /** The times of event ids. */
  readonly #seen = new Map<string, number>();
  #forgetAt = FIRST_FORGET;

  constructor(private readonly definition: Pick<BoardDefinition, 'deduplicateMs'>) {}

  /** Must be called for each accepted event of the board: events of all players move the clock. */
  advance({ occurredAt }: Identified): void {
    this.#clock = Math.max(this.#clock, occurredAt);
  }

  isDuplicate({ playerId, eventId, occurredAt }: Identified): boolean {
    const oldest = this.#clock - (this.definition.deduplicateMs ?? 0);
    if (eventId === undefined || occurredAt <= oldest) return false;
    const id = `${eventId}\n${playerId}`;
    if ((this.#seen.get(id) ?? -Infinity) > oldest) return true;
    this.#seen.set(id, occurredAt);
    if (this.#seen.size >= this.#forgetAt) this.#forget(oldest);
    return false;
  }

  /** Deletes ids that are older than the span of `deduplicate`, as Redis does. */
  #forget(oldest: number): void {
    for (const [id, time] of this.#seen) if (time <= oldest) this.#seen.delete(id);
    this.#forgetAt = Math.max(FIRST_FORGET, 2 * this.#seen.size);
  }
}

/** Decides as ingest what the events of a board did. */
export class EventEffects {
  /** By partition: ingest finds duplicates only within a partition. */
  readonly #duplicates = new Map<number, DuplicateFinder>();

  /**
   * `isOfInterest` limits the players whose duplicates are found, as each event id takes memory.
   */
  constructor(
    private readonly live: Pick<LiveBoard, 'definition' | 'starts'>,
    private readonly isOfInterest: (playerId: string) => boolean,
  ) {}

  /** Must be called for all events of the board, in the order of their partition. */
  of(event: DecodedScoreEvent, partition: number, record: KafkaRecord): EventEffect {
    const { definition } = this.live;
    const resolution = resolveEvent(definition, event, record.timestamp);
    const known = { resolution, isVoided: isVoided(definition, event, partition, record) };
    if (isRepeat(event, this.live)) return { ...known, effect: 'repeat' };
    if (!resolution.ok) return { ...known, effect: `refused: ${resolution.code}` };

    const duplicates = this.#duplicates.get(partition) ?? new DuplicateFinder(definition);
    this.#duplicates.set(partition, duplicates);
    duplicates.advance(resolution.event);
    const isDuplicate =
      this.isOfInterest(event.playerId) && duplicates.isDuplicate(resolution.event);

    if (known.isVoided) return { ...known, effect: 'voided' };
    return { ...known, effect: isDuplicate ? 'duplicate' : 'counts' };
  }
}
