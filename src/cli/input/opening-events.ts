import { hash } from 'node:crypto';
import { resolveEvent, type BoardDefinition, type ResolvedEvent } from '#board';
import {
  batchBytes,
  cloudEventHeaders,
  decodeText,
  formatTime,
  headerText,
  SCORE_EVENT_TYPE,
} from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import { isPartlyLate } from '../text/board-times.js';
import { ProgressBar } from '../text/progress-bar.js';
import { HashedMap } from './hashed-map.js';
import type { Row } from './rows.js';

export interface OpeningOptions {
  /** The name of the import. Each player has at most one opening event per import. */
  readonly id: string;
  /** The time of rows without `occurredAt`, in ms. */
  readonly at?: number | undefined;
  /** The attributes of rows without `attributes`. */
  readonly attribute?: Readonly<Record<string, string>>;
}

/**
 * A score event. `message` is what the import sends; a repeated import makes the same bytes.
 * `resolved` is the effect on the board.
 */
interface OpeningEvent {
  readonly message: ReturnType<typeof messageOf>;
  readonly resolved: ResolvedEvent;
}

/**
 * Makes an opening event of each row that ingest would accept.
 * Memory: two HashedMap entries for each event.
 */
export class OpeningEvents {
  /**
   * `refused`: rows that ingest would not accept, or without effect; each is written to standard
   * error. `repeated`: rows whose event the log or an earlier row has. `made`: rows whose event is
   * new. `partlyLate`: new events that are too late for some of their windows.
   */
  readonly counts = { rows: 0, refused: 0, repeated: 0, made: 0, partlyLate: 0 };
  /** Digests of the events, by event id. */
  readonly #known = new HashedMap();
  /** The columns and times of the new events. */
  readonly #places = new HashedMap();
  readonly #idPrefix: string;
  /** The largest batch that the score topic accepts: larger events are refused. */
  maxBytes = Infinity;

  /** `clock`: the event clock of the board, in ms */
  constructor(
    readonly definition: BoardDefinition,
    private readonly clock: number,
    private readonly options: OpeningOptions,
  ) {
    this.#idPrefix = `import/${shortHash(JSON.stringify([definition.board, options.id]))}/`;
  }

  /**
   * How many new events have the columns and the time of an earlier one. Such players are ordered
   * by player id only.
   */
  get tied(): number {
    return this.counts.made - this.#places.size;
  }

  /** Notes a record of the log, so that its event is not made again if this import made it. */
  addSent(record: KafkaRecord): void {
    const id = headerText(record, 'ce_id');
    if (id?.startsWith(this.#idPrefix) !== true) return;
    this.#known.set(id, digest(String(record.value)));
  }

  /** The new events of rows, in groups of at most 1,000. */
  async *of(rows: AsyncIterable<Row>): AsyncGenerator<OpeningEvent[]> {
    using bar = new ProgressBar('rows read', 0);
    const { counts } = this;
    let group: OpeningEvent[] = [];
    for await (const row of rows) {
      const opening = this.#take(row);
      if (opening !== undefined) group.push(opening);
      counts.rows += 1;
      if (counts.rows % 1_000 !== 0) continue;

      yield group;
      group = [];
      bar.update(counts.rows);
    }
    yield group;
  }

  /** Counts a row, and writes why it is refused. Returns its event if the event is new. */
  #take({ place, event }: Row): OpeningEvent | undefined {
    const opening = 'json' in event ? this.#openingOf(event.json) : event.problem;
    if (opening === undefined) {
      this.counts.repeated += 1;
      return undefined;
    }
    if (typeof opening === 'string') {
      this.counts.refused += 1;
      process.stderr.write(`${place}: ${opening}\n`);
      return undefined;
    }
    this.counts.made += 1;
    return opening;
  }

  /** Returns the new event of a row, why the row is refused, or undefined for a known event. */
  #openingOf(row: string): OpeningEvent | string | undefined {
    const decoded = this.#decode(row);
    if (!decoded.ok) return `${decoded.code}: ${decoded.detail}`;

    const { definition } = this;
    const { board } = definition;
    const { event } = decoded;
    if (event.board !== board) return `it is of board "${event.board}"`;
    if (event.occurredAt === undefined)
      return 'it has no time; use --at, such as --at 2026-11-20T09:00:00Z';

    const id = this.#idPrefix + shortHash(event.playerId);
    const occurredAt = formatTime(event.occurredAt);
    const value = JSON.stringify({ ...event, occurredAt, eventId: id });
    const valueDigest = digest(value);
    const knownDigest = this.#known.get(id);
    // A repeated import, or a row that ZSCAN returned twice.
    if (knownDigest === valueDigest) return undefined;
    if (knownDigest !== undefined)
      return 'the opening event in the log, or of an earlier row, differs';

    const now = Date.now();
    const resolution = resolveEvent(definition, event, now);
    if (!resolution.ok) return `${resolution.code}: ${resolution.detail}`;

    const resolved = resolution.event;
    if (resolved.views.every(({ expiresAt }) => (expiresAt ?? Infinity) <= this.clock))
      return 'no view contains it, or only views that have expired';

    const message = messageOf(id, event.playerId, value);
    const bytes = batchBytes(message);
    if (bytes > this.maxBytes)
      return `its event has ${bytes} bytes; the score topic accepts ${this.maxBytes}`;

    if (isPartlyLate(definition, resolved, now)) this.counts.partlyLate += 1;
    this.#known.set(id, valueDigest);
    this.#places.set(`${resolved.values.join()} ${resolved.occurredAt}`, 1);
    return { message, resolved };
  }

  /** Decodes a row. The board and the options fill in the fields that the row lacks. */
  #decode(row: string) {
    const { at, attribute } = this.options;
    return decodeText(row, {
      board: this.definition.board,
      attributes: attribute,
      occurredAt: at === undefined ? undefined : formatTime(at),
    });
  }
}

function messageOf(id: string, key: string, value: string) {
  const headers = cloudEventHeaders({ id, type: SCORE_EVENT_TYPE, source: '/ranklog/import' });
  return { key, value, headers };
}

/** The first 132 bits of SHA-256, as text. */
function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** The first 48 bits of SHA-256: a number holds them exactly. */
function digest(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}
