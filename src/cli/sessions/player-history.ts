import {
  decimalColumns,
  decimalText,
  EARLIEST_TIME,
  formatTime,
  isVoided,
  resolveEvent,
  type EventResolution,
  type ResolvedEvent,
} from '#board';
import type { BanEntry, LiveBoard, PlayerStanding } from '#board-store';
import { decodeRecord, type DecodedPlayerRecord, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import { EventEffects, type EventEffect } from './event-effects.js';

/** An event, ban, unban or erasure of the player, and whether it counts in the view. */
export interface HistoryEntry {
  readonly partition: number;
  readonly offset: number;
  /** null for a dead letter without a time of its own. */
  readonly occurredAt: string | null;
  /** By column; empty for a dead letter and for a player record. */
  readonly values: Readonly<Record<string, string>>;
  readonly effect: string;
}

/** The word for a player record in the text of its effect. */
const KINDS = { banned: 'ban', unbanned: 'unban', erased: 'erasure' } as const;

/**
 * Finds the events and player records of one player in the records of partitions, as ingest does.
 * Keeps the last `limit` ones, and counts all.
 */
export class PlayerHistory {
  count = 0;
  /** Of each partition, the last entries with the times of their records. */
  readonly #entries: { readonly timestamp: number; readonly entry: HistoryEntry }[][] = [];
  #partition = 0;
  /**
   * By column. With the update `sum`: the sum of the events that count. With another update: the
   * value of an event that counts, preferably the value that the place shows.
   */
  readonly #made: number[] = [];
  readonly #effects: EventEffects;

  constructor(
    private readonly live: Pick<LiveBoard, 'definition' | 'starts'>,
    private readonly place: Pick<PlayerStanding, 'playerId' | 'view' | 'standing'>,
    private readonly ban: BanEntry | null,
    private readonly limit: number,
  ) {
    this.#effects = new EventEffects(live, (playerId) => playerId === place.playerId);
  }

  /**
   * The columns of the place whose values the counting events do not explain. Empty for a player
   * who has no place because of a ban or an erasure.
   */
  get unexplained(): string[] {
    if (this.place.standing === null && this.#isAbsent) return [];
    const made = this.#made.length > 0 ? decimalColumns(this.live.definition, this.#made) : {};
    const names = this.live.definition.columns.map(({ name }) => name);
    return names.filter((name) => made[name] !== this.place.standing?.columns[name]);
  }

  get #isAbsent(): boolean {
    return this.ban !== null && this.ban.kind !== 'unbanned';
  }

  /** The last entries of all partitions, in the order of the records' times. */
  get last(): HistoryEntry[] {
    return this.#entries
      .flat()
      .sort((a, b) => a.timestamp - b.timestamp)
      .slice(-this.limit)
      .map(({ entry }) => entry);
  }

  /** Begins a partition: the next calls of `take` are for its records. */
  begin(partition: number): void {
    this.#partition = partition;
    this.#entries.push([]);
  }

  take(record: KafkaRecord): void {
    const decoded = decodeRecord(record);
    if (!decoded.ok) return;
    if ('playerRecord' in decoded) this.#takePlayerRecord(decoded.playerRecord, record);
    else this.#takeEvent(decoded.event, record);
  }

  #takeEvent(event: DecodedScoreEvent, record: KafkaRecord): void {
    if (event.board !== this.live.definition.board) return;
    const found = this.#effects.of(event, this.#partition, record);
    if (found.effect === 'repeat' || event.playerId !== this.place.playerId) return;

    const resolved = found.resolution;
    const { occurredAt } = resolved.ok ? resolved.event : event;
    this.count += 1;
    this.#keep(record.timestamp, {
      partition: this.#partition,
      offset: record.offset,
      occurredAt: occurredAt === undefined ? null : formatTime(occurredAt),
      values: resolved.ok ? decimalColumns(this.live.definition, resolved.event.values) : {},
      effect: this.#effectInView(found, event, record),
    });
  }

  #takePlayerRecord(playerRecord: DecodedPlayerRecord, record: KafkaRecord): void {
    const { board, playerId, occurredAt } = playerRecord;
    if (board !== this.live.definition.board || playerId !== this.place.playerId) return;

    this.count += 1;
    this.#keep(record.timestamp, {
      partition: this.#partition,
      offset: record.offset,
      occurredAt: formatTime(occurredAt),
      values: {},
      effect: this.#effectOfRecord(playerRecord, record),
    });
  }

  /** `ban by mod-1 ("speed hack"): counts` */
  #effectOfRecord(playerRecord: DecodedPlayerRecord, record: KafkaRecord): string {
    const { kind, by, reason } = playerRecord;
    const whom = by === undefined ? '' : ` by ${by}`;
    const why = reason === undefined ? '' : ` (${JSON.stringify(reason)})`;
    return `${KINDS[kind]}${whom}${why}: ${this.#countOf(playerRecord, record)}`;
  }

  #countOf(playerRecord: DecodedPlayerRecord, record: KafkaRecord): string {
    const { ban } = this;
    if (isVoided(this.live.definition, playerRecord, this.#partition, record)) return 'voided';
    if (ban === null) return 'not applied yet';
    if (ban.partition === this.#partition && ban.offset === record.offset) return 'counts';
    return ban.kind === 'erased' ? 'an erasure counts' : 'a later one counts';
  }

  #refusal({ code, detail }: Extract<EventResolution, { ok: false }>): string {
    const isCounted = code === 'WINDOW_CLOSED' && this.live.definition.late === 'count';
    return isCounted ? `late: ${detail}` : `dead letter: ${code}: ${detail}`;
  }

  /** Whether an event would be in the view if the window had not closed. */
  #isLate(event: DecodedScoreEvent, timestamp: number): boolean {
    const resolved = resolveEvent(this.live.definition, event, timestamp, EARLIEST_TIME);
    return resolved.ok && resolved.event.views.some(({ view }) => view === this.place.view);
  }

  #keep(timestamp: number, entry: HistoryEntry): void {
    const entries = this.#entries.at(-1);
    entries?.push({ timestamp, entry });
    if (entries !== undefined && entries.length > this.limit) entries.shift();
  }

  #effectInView(
    { effect, resolution }: EventEffect,
    sent: DecodedScoreEvent,
    { timestamp }: KafkaRecord,
  ): string {
    if (!resolution.ok) return this.#refusal(resolution);
    if (effect !== 'counts') return effect;
    if (this.ban?.kind === 'erased') return 'erased: not stored';
    if (resolution.event.views.every(({ view }) => view !== this.place.view)) {
      const isLate = this.#isLate(sent, timestamp);
      return isLate ? 'late: the window had closed; in other views' : 'in other views';
    }
    this.#add(resolution.event);
    return this.ban?.kind === 'banned' ? 'kept, not ranked' : effect;
  }

  #add({ values }: ResolvedEvent): void {
    for (const [index, column] of this.live.definition.columns.entries()) {
      const before = this.#made[index];
      const value = values[index] ?? 0;
      if (column.update === 'sum') {
        this.#made[index] = (before ?? 0) + value;
        continue;
      }
      const shown = this.place.standing?.columns[column.name];
      const isShown = decimalText(column, value) === shown;
      if (before === undefined || isShown) this.#made[index] = value;
    }
  }
}
