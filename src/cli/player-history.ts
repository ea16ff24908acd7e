import { isDeepStrictEqual } from 'node:util';
import {
  decimalColumns,
  decimalText,
  formatTime,
  parseView,
  reachTime,
  stateAfter,
  type PlayerState,
  type ResolvedEvent,
} from '#board';
import type { Boards, LiveBoard } from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import { readRecord } from '../ingest/read-record.js';

/** What an event did to the place of its player in a view. */
export interface Effect {
  readonly outcome:
    'counted' | 'unchanged' | 'duplicate' | 'outsideWindow' | 'otherDimensions' | 'deadLetter';
  /** The code and the reason of a dead letter, or why nothing changed. */
  readonly detail?: string;
  /** The columns after an event that counted. */
  readonly after?: Readonly<Record<string, string>>;
}

/** An event of the player as its record has it; without values, if it is a dead letter. */
export interface HistoryEntry extends Effect {
  readonly offset: number;
  readonly occurredAt: string;
  readonly eventId?: string;
  readonly values?: Readonly<Record<string, string | null>>;
}

interface Place {
  readonly live: LiveBoard;
  readonly playerId: string;
  readonly view: string;
  readonly partition: number;
}

/** Why an event changes nothing, by the update of a column. */
const UNCHANGED = { sum: 'adds 0', best: 'not better', latest: 'not the latest' } as const;

/** Applies the records of a partition to one player of one view. Keeps the last `limit` events, and counts all by outcome. */
export class PlayerHistory {
  readonly last: HistoryEntry[] = [];
  readonly counts: Partial<Record<Effect['outcome'], number>> = {};
  #state: PlayerState | undefined;
  /** The latest time of the board's events in the partition, and the times of the player's event ids (lua/includes/board.lua). */
  #clock = -Infinity;
  readonly #seen = new Map<string, number>();
  readonly #boards: Boards;

  constructor(
    private readonly place: Place,
    private readonly limit: number,
  ) {
    const { live } = place;
    const boards = new Map([[live.board, live]]);
    this.#boards = { live: boards, building: new Set(), removed: new Set(), versions: [] };
  }

  /** Columns and reach time that the events make; undefined without an event that counts. */
  get made() {
    if (this.#state === undefined) return undefined;
    const values = this.#state.map(({ value }) => value);
    const columns = decimalColumns(this.place.live.definition, values);
    return { columns, reachedAt: formatTime(reachTime(this.#state)) };
  }

  take(record: KafkaRecord): void {
    const { live, playerId, partition } = this.place;
    const { event, entry } = readRecord(record, partition, this.#boards);
    if (event !== undefined && event.board !== live.board) return;
    if (entry.kind === 'event') this.#clock = Math.max(this.#clock, entry.event.occurredAt);
    if ((event?.playerId ?? record.key?.toString()) !== playerId || entry.kind === 'none') return;
    const { offset, timestamp } = record;
    const at = (time: number) => ({ offset, occurredAt: formatTime(time) });
    if (entry.kind === 'deadLetter') {
      const detail = `${entry.code}: ${entry.detail}`;
      this.#add({ ...at(event?.occurredAt ?? timestamp), outcome: 'deadLetter', detail });
    } else {
      const { eventId, occurredAt } = entry.event;
      const id = eventId === undefined ? {} : { eventId };
      const values = this.#values(entry.event);
      this.#add({ ...at(occurredAt), ...id, values, ...this.#apply(entry.event) });
    }
  }

  #add(entry: HistoryEntry): void {
    this.counts[entry.outcome] = (this.counts[entry.outcome] ?? 0) + 1;
    this.last.push(entry);
    if (this.last.length > this.limit) this.last.shift();
  }

  #values({ values }: ResolvedEvent): Record<string, string | null> {
    const { columns } = this.place.live.definition;
    const texts = columns.map((column, index) => {
      const value = values[index] ?? null;
      return [column.name, value === null ? null : decimalText(column, value)] as const;
    });
    return Object.fromEntries(texts);
  }

  #apply(event: ResolvedEvent): Effect {
    const { live, view } = this.place;
    if (this.#isDuplicate(event)) return { outcome: 'duplicate' };
    if (!event.views.some((moved) => moved.view === view)) {
      const { window } = parseView(view);
      const isInWindow = event.views.some((moved) => parseView(moved.view).window === window);
      return { outcome: isInWindow ? 'otherDimensions' : 'outsideWindow' };
    }
    const state = stateAfter(live.definition, this.#state, event);
    if (state === undefined) {
      const detail = 'SUM_OUT_OF_RANGE: a sum would leave +-(2^53-1) minor units';
      return { outcome: 'deadLetter', detail };
    }
    if (isDeepStrictEqual(state, this.#state)) {
      const reasons = live.definition.columns.map(({ update }) => UNCHANGED[update]);
      return { outcome: 'unchanged', detail: [...new Set(reasons)].join(', ') };
    }
    this.#state = state;
    return { outcome: 'counted', after: this.made?.columns ?? {} };
  }

  #isDuplicate({ eventId, occurredAt }: ResolvedEvent): boolean {
    const oldest = this.#clock - (this.place.live.definition.deduplicateMs ?? 0);
    if (eventId === undefined || occurredAt <= oldest) return false;
    if ((this.#seen.get(eventId) ?? -Infinity) > oldest) return true;
    this.#seen.delete(eventId);
    this.#seen.set(eventId, occurredAt);
    for (const [id, time] of this.#seen) {
      if (time > oldest) break;
      this.#seen.delete(id);
    }
    return false;
  }
}
