import { isDeepStrictEqual } from 'node:util';
import {
  decimalColumns,
  formatTime,
  reachTime,
  resolveEvent,
  stateAfter,
  type BoardDefinition,
  type PlayerState,
  type ResolvedEvent,
} from '#board';
import { decodeScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/** An event of the player, and what it did to the place. */
export interface HistoryEntry {
  readonly offset: number;
  /** null for a dead letter without a time of its own. */
  readonly occurredAt: string | null;
  /** By column; empty for a dead letter. */
  readonly values: Readonly<Record<string, string>>;
  readonly effect: string;
}

/** Applies the records of a partition to one player of one view, as ingest does. Keeps the last `limit` events, and counts all. */
export class PlayerHistory {
  readonly last: HistoryEntry[] = [];
  count = 0;
  #state: PlayerState = [];
  /** The latest time of the board's events in the partition, and the times of the player's event ids (lua/includes/board.lua). */
  #clock = -Infinity;
  readonly #seen = new Map<string, number>();

  constructor(
    private readonly definition: BoardDefinition,
    private readonly place: { readonly playerId: string; readonly view: string },
    private readonly limit: number,
  ) {}

  /** Columns and reach time that the events make; null without an event that counts. */
  get made() {
    if (this.#state.length === 0) return null;
    const columns = decimalColumns(
      this.definition,
      this.#state.map(({ value }) => value),
    );
    return { columns, reachedAt: formatTime(reachTime(this.#state)) };
  }

  take(record: KafkaRecord): void {
    const decoded = decodeScoreEvent(record);
    if (!decoded.ok || decoded.event.board !== this.definition.board) return;
    const resolved = resolveEvent(this.definition, decoded.event, record.timestamp);
    if (resolved.ok) this.#clock = Math.max(this.#clock, resolved.event.occurredAt);
    if (decoded.event.playerId !== this.place.playerId) return;
    const { occurredAt } = resolved.ok ? resolved.event : decoded.event;
    this.count += 1;
    this.last.push({
      offset: record.offset,
      occurredAt: occurredAt === undefined ? null : formatTime(occurredAt),
      values: resolved.ok ? decimalColumns(this.definition, resolved.event.values) : {},
      effect: resolved.ok
        ? this.#apply(resolved.event)
        : `dead letter: ${resolved.code}: ${resolved.detail}`,
    });
    if (this.last.length > this.limit) this.last.shift();
  }

  #apply(event: ResolvedEvent): string {
    if (this.#isDuplicate(event)) return 'duplicate';
    if (!event.views.some(({ view }) => view === this.place.view)) return 'in other views';
    const state = stateAfter(this.definition, this.#state, event);
    if (state === undefined) return 'dead letter: SUM_OUT_OF_RANGE: a sum would leave +-(2^53-1)';
    if (isDeepStrictEqual(state, this.#state)) return 'changed nothing';
    this.#state = state;
    return `made ${columnsText(this.made?.columns ?? {})}`;
  }

  #isDuplicate({ eventId, occurredAt }: ResolvedEvent): boolean {
    const oldest = this.#clock - (this.definition.deduplicateMs ?? 0);
    if (eventId === undefined || occurredAt <= oldest) return false;
    if ((this.#seen.get(eventId) ?? -Infinity) > oldest) return true;
    this.#seen.set(eventId, occurredAt);
    return false;
  }
}

/** `points 12, wins 3` */
export function columnsText(columns: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(columns).map((pair) => pair.join(' '));
  return pairs.join(', ');
}
