import type { BoardDefinition, ResolvedEvent } from '#board';

type Identified = Pick<ResolvedEvent, 'playerId' | 'eventId' | 'occurredAt'>;

/** Old ids are deleted at this number of ids, and each time that the number doubles. */
const FIRST_FORGET = 10_000;

/**
 * Finds the duplicates among the events of a board in one partition, as lua/includes/board.lua
 * does.
 */
export class DuplicateFinder {
  /** The latest time of the board's events in the partition. */
  #clock = -Infinity;
  /** The times of event ids. */
  readonly #seen = new Map<string, number>();
  #forgetAt = FIRST_FORGET;

  constructor(private readonly definition: Pick<BoardDefinition, 'deduplicateMs'>) {}

  /** Every accepted event of the board moves the clock, also those of other players. */
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

  /** As in Redis, only the ids of the span are held in memory. */
  #forget(oldest: number): void {
    for (const [id, time] of this.#seen) if (time <= oldest) this.#seen.delete(id);
    this.#forgetAt = Math.max(FIRST_FORGET, 2 * this.#seen.size);
  }
}
