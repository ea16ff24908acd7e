import { createHash } from 'node:crypto';
import { resolveEvent, type BoardDefinition, type ResolvedEvent } from '#board';
import { decodeText, formatTime, type DecodedScoreEvent } from '#contracts';
import { CommandError, EXIT } from '../exit-codes.js';
import type { Row } from './rows.js';

export interface OpeningOptions {
  /** The name of the import, a part of the event ids. */
  readonly id: string;
  /** The time of rows that have none, in ms. */
  readonly at?: number | undefined;
  /** Attributes of rows that have none of that name. */
  readonly attribute?: Readonly<Record<string, string>> | undefined;
}

export interface OpeningEvent {
  /** The score event, the same for each run of an import. */
  readonly text: string;
  /** The event in the terms of the board. */
  readonly resolved: ResolvedEvent;
}

/** A live board. `clock` is its event clock in ms. */
interface LiveBoard {
  readonly definition: BoardDefinition;
  readonly clock: number;
}

const EXAMPLES = 3;

/** Rows that can't be imported, of one kind. */
export interface Problem {
  rows: number;
  /** The first ones, each with its place and what is wrong. */
  readonly examples: string[];
}

/** Makes an opening event of each row that ingest would accept, and collects the other rows. Keeps all events in memory. */
export class OpeningEvents {
  readonly byPlayer = new Map<string, OpeningEvent>();
  /** By code: that of a dead letter, or UNREADABLE, OTHER_BOARD, REPEATED_PLAYER. */
  readonly problems: Record<string, Problem> = {};
  rows = 0;
  refused = 0;

  constructor(
    private readonly live: LiveBoard,
    private readonly options: OpeningOptions,
  ) {}

  /** The decimals that all columns have. */
  get decimals(): number {
    return Math.min(...this.live.definition.columns.map(({ decimals }) => decimals));
  }

  /** The number of players with the columns and the time of another one: only the player id orders them. */
  get tied(): number {
    const counts = new Map<string, number>();
    for (const { resolved } of this.byPlayer.values()) {
      const place = `${resolved.values.join()} ${resolved.occurredAt}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    return [...counts.values()].reduce((sum, count) => sum + (count > 1 ? count : 0), 0);
  }

  /** @throws CommandError for a row without a time, unless there is `at` */
  add({ place, text, problem = '' }: Row): void {
    this.rows += 1;
    const [code, detail] = text === undefined ? ['UNREADABLE', problem] : this.#add(place, text);
    if (detail === undefined) return;
    this.refused += 1;
    const { examples } = (this.problems[code] ??= { rows: 0, examples: [] });
    this.problems[code].rows += 1;
    if (examples.length < EXAMPLES) examples.push(`${place}: ${detail}`);
  }

  /** Returns the code and the detail of a refusal. */
  #add(place: string, text: string): readonly [code: string, detail?: string] {
    const { definition, clock } = this.live;
    const { board } = definition;
    const decoded = decodeText(text.replace('{', `{"board":"${board}",`)); // of repeated names, the last one counts
    if (!decoded.ok) return [decoded.code, decoded.detail];
    if (decoded.event.board !== board) return ['OTHER_BOARD', `it is of "${decoded.event.board}"`];
    const event = this.#opening(place, decoded.event);
    const resolution = resolveEvent(definition, event, Date.now());
    if (!resolution.ok) return [resolution.rejection.code, resolution.rejection.detail];
    const { views } = resolution.event;
    if (
      views.length > 0 &&
      views.every(({ expiresAt }) => expiresAt !== null && expiresAt <= clock)
    )
      return ['WINDOW_EXPIRED', 'all views that its time belongs to have expired'];
    const opening = { text: textOf(event), resolved: resolution.event };
    const { text: known = opening.text } = this.byPlayer.get(event.playerId) ?? {};
    if (known !== opening.text) return ['REPEATED_PLAYER', 'an earlier row of the player differs'];
    this.byPlayer.set(event.playerId, opening); // ZSCAN may return a member twice
    return [''];
  }

  #opening(place: string, event: DecodedScoreEvent) {
    const { at, id, attribute } = this.options;
    const { board, playerId, occurredAt = at } = event;
    if (occurredAt === undefined)
      throw new CommandError(
        `${place} has no time; give the time that counts for windows and ties, such as --at 2026-11-20T09:00:00Z`,
        EXIT.usage,
      );
    const hash = createHash('sha256').update(`${board}\n${playerId}`).digest('base64url');
    const eventId = `${idPrefix(id)}${hash.slice(0, 22)}`;
    return { ...event, occurredAt, eventId, attributes: { ...attribute, ...event.attributes } };
  }
}

/** How the event ids of an import begin. */
export function idPrefix(id: string): string {
  return `import/${id}/`;
}

function textOf(event: DecodedScoreEvent & { readonly occurredAt: number }): string {
  return JSON.stringify({ ...event, occurredAt: formatTime(event.occurredAt) });
}
