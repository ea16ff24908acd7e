import { createHash } from 'node:crypto';
import { resolveEvent, type BoardDefinition, type ResolvedEvent } from '#board';
import { decodeText, formatTime, headerText, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';
import { ProgressBar } from '../progress.js';
import type { Row } from './rows.js';

export interface OpeningOptions {
  /** The name of the import: players have one opening event of each. */
  readonly id: string;
  /** The time of rows without `occurredAt`, in ms. */
  readonly at?: number | undefined;
  /** The attributes of rows without `attributes`. */
  readonly attribute?: Readonly<Record<string, string>>;
}

/** A score event as it is sent, the same whenever an import is repeated, and in the terms of the board. */
export interface OpeningEvent {
  readonly text: string;
  readonly resolved: ResolvedEvent;
}

/** Makes an opening event of each row that ingest would accept. Keeps about 200 bytes of each event in memory. */
export class OpeningEvents {
  rows = 0;
  /** Rows that ingest would not accept, or without effect. Each is written to standard error. */
  refused = 0;
  /** Rows whose event the log or an earlier row has. */
  repeated = 0;
  /** Rows whose event is new. */
  made = 0;
  /** New events with the columns and the time of another one: only the player id orders their players. */
  tied = 0;
  readonly #idPrefix: string;
  /** Digests of the events, by event id. */
  readonly #known = new Map<string, number>();
  /** How many events have the same columns and time. */
  readonly #ties = new Map<string, number>();

  /** `clock`: the event clock of the board, in ms */
  constructor(
    readonly definition: BoardDefinition,
    private readonly clock: number,
    private readonly options: OpeningOptions,
  ) {
    this.#idPrefix = `import/${shortHash(JSON.stringify([definition.board, options.id]))}/`;
  }

  /** Takes a record of the log: an event of this import is not made again. */
  addSent({ headers, value }: KafkaRecord): void {
    const id = headerText(headers, 'ce_id');
    if (id?.startsWith(this.#idPrefix) === true) this.#known.set(id, digest(String(value)));
  }

  /** The new events of rows, in groups of at most 1,000. */
  async *of(rows: AsyncIterable<Row>): AsyncGenerator<OpeningEvent[]> {
    const bar = new ProgressBar('rows read', 0);
    let group: OpeningEvent[] = [];
    try {
      for await (const row of rows) {
        group.push(...this.#add(row));
        if (this.rows % 1_000 !== 0) continue;
        yield group;
        group = [];
        bar.update(this.rows);
      }
      yield group;
    } finally {
      bar.stop();
    }
  }

  #add({ place, text }: Row): OpeningEvent[] {
    this.rows += 1;
    const opening = text === undefined ? 'it is not UTF-8, or not CSV' : this.#read(text);
    if (opening === undefined) this.repeated += 1;
    else if (typeof opening === 'string') {
      this.refused += 1;
      process.stderr.write(`${place}: ${opening}\n`);
    } else {
      this.made += 1;
      this.#countTies(opening.resolved);
      return [opening];
    }
    return [];
  }

  /** Returns why a row is refused, or undefined for a known event. */
  #read(text: string): OpeningEvent | string | undefined {
    const { board } = this.definition;
    const { at, attribute: attributes } = this.options;
    const occurredAt = at === undefined ? undefined : formatTime(at);
    const decoded = decodeText(text, { board, attributes, occurredAt });
    if (!decoded.ok) return `${decoded.code}: ${decoded.detail}`;
    const { event } = decoded;
    if (event.board !== board) return `it is of board "${event.board}"`;
    if (event.occurredAt !== undefined) return this.#openingOf(event, formatTime(event.occurredAt));
    return 'it has no time; use --at, such as --at 2026-11-20T09:00:00Z';
  }

  #openingOf(event: DecodedScoreEvent, occurredAt: string): OpeningEvent | string | undefined {
    const eventId = this.#idPrefix + shortHash(event.playerId);
    const text = JSON.stringify({ ...event, occurredAt, eventId });
    const [known, own] = [this.#known.get(eventId), digest(text)];
    if (known === own) return undefined; // also of ZSCAN, which may return a member twice
    if (known !== undefined) return 'the opening event in the log, or of an earlier row, differs';
    const resolution = resolveEvent(this.definition, event, Date.now());
    if (!resolution.ok) return `${resolution.code}: ${resolution.detail}`;
    const { event: resolved } = resolution;
    if (resolved.views.every(({ expiresAt }) => (expiresAt ?? Infinity) <= this.clock))
      return 'no view contains it, or only views that have expired';
    this.#known.set(eventId, own);
    return { text, resolved };
  }

  #countTies({ values, occurredAt }: ResolvedEvent): void {
    const place = `${values.join()} ${occurredAt}`;
    const others = this.#ties.get(place) ?? 0;
    this.#ties.set(place, others + 1);
    if (others > 0) this.tied += others === 1 ? 2 : 1;
  }
}

/** 132 bits. */
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** 48 bits. */
function digest(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
