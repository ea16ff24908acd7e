import { isVoided, resolveEvent, type EventRejectionCode, type EventResolution } from '#board';
import type { LiveBoard } from '#board-store';
import { isRepeat, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import { DuplicateFinder } from './duplicate-finder.js';

/** What an event did on its board, as ingest decided it. */
export interface EventEffect {
  readonly effect: 'counts' | 'voided' | 'duplicate' | 'repeat' | `refused: ${EventRejectionCode}`;
  readonly resolution: EventResolution;
  readonly isVoided: boolean;
}

/** Decides as ingest what the events of a board did. */
export class EventEffects {
  /** By partition: duplicates are found within one only. */
  readonly #duplicates = new Map<number, DuplicateFinder>();

  /**
   * `isOfInterest`: the players whose duplicates are found, as that takes memory for each event id.
   */
  constructor(
    private readonly live: Pick<LiveBoard, 'definition' | 'starts'>,
    private readonly isOfInterest: (playerId: string) => boolean,
  ) {}

  /** To be called for all events of the board, in the order of a partition. */
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
