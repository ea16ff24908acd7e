import {
  decimalText,
  resolveEvent,
  suggestion,
  type BoardDefinition,
  type ResolvedEvent,
  type ResolvedView,
} from '#board';
import { KeySpace, shardOf } from '#board-store';
import { DEAD_LETTER_CODES, decodeScoreEvent, formatTime, type DeadLetterCode } from '#contracts';
import { expiryText } from './formats.js';

/** What a score event would do, as far as it and the definition decide; JSON as `boards show --event` prints it. */
export type EventPreview = MovingEvent | DeadEvent;

export interface MovingEvent {
  readonly board: string;
  readonly shard: number;
  readonly playerId: string;
  readonly occurredAt: string;
  /** Only where the board drops duplicates. */
  readonly eventId?: string;
  /** What the event brings to each column; null: nothing. */
  readonly columns: Readonly<Record<string, string | null>>;
  readonly views: readonly PreviewedView[];
  /** The hash that holds the id which `GENERATION` stands for in other keys, by board. */
  readonly live: string;
}
export interface PreviewedView {
  readonly view: string;
  readonly published: boolean;
  /** When the board's event clock reaches this time; null: never. */
  readonly expiresAt: string | null;
  readonly keys: { readonly ranking: string; readonly players: string };
}
export interface DeadEvent {
  readonly deadLetter: {
    readonly code: DeadLetterCode;
    readonly detail: string;
    readonly wayOut: string;
  };
}

/** What to judge an event by. `timestamp` (ms) is the record's own; `board` takes the place of the event's. */
export interface PreviewContext {
  readonly definitions: readonly BoardDefinition[];
  readonly board?: string | undefined;
  readonly timestamp: number;
  readonly redisPrefix: string;
  readonly shards: number;
}

/** Judges the bytes of a score event as ingest would, without any board's state. */
export function previewEvent(value: Buffer, context: PreviewContext): EventPreview {
  const decoded = decodeScoreEvent({ key: null, value, headers: {} });
  if (!decoded.ok) return deadEvent(decoded.code, decoded.detail);
  const { definitions, board = decoded.event.board, timestamp } = context;
  const definition = definitions.find((known) => known.board === board);
  if (definition === undefined) {
    const known = definitions.map(({ board }) => board);
    const detail = `there is no board ${JSON.stringify(board)}; boards of the file: ${known.join(', ')}${suggestion(board, known)}`;
    return deadEvent('UNKNOWN_BOARD', detail);
  }
  const resolved = resolveEvent(definition, decoded.event, timestamp);
  return resolved.ok
    ? movingEvent(definition, resolved.event, context)
    : deadEvent(resolved.rejection.code, resolved.rejection.detail);
}

function deadEvent(code: DeadLetterCode, detail: string): DeadEvent {
  return { deadLetter: { code, detail, wayOut: DEAD_LETTER_CODES[code] } };
}

function movingEvent(
  { board, columns }: BoardDefinition,
  { playerId, occurredAt, eventId, values, views }: ResolvedEvent,
  { redisPrefix, shards }: PreviewContext,
): MovingEvent {
  const shard = shardOf(board, shards);
  const keys = new KeySpace(redisPrefix);
  return {
    board,
    shard,
    playerId,
    occurredAt: formatTime(occurredAt),
    ...(eventId === undefined ? {} : { eventId }),
    columns: Object.fromEntries(
      columns.map((column, index) => {
        const value = values[index] ?? null;
        return [column.name, value === null ? null : decimalText(column, value)];
      }),
    ),
    views: views.map((view) => previewedView(view, keys, shard)),
    live: keys.live(shard),
  };
}

function previewedView(
  { view, published, expiresAt }: ResolvedView,
  keys: KeySpace,
  shard: number,
): PreviewedView {
  return {
    view,
    published,
    expiresAt: expiryText(expiresAt),
    keys: {
      ranking: keys.ranking(shard, 'GENERATION', view),
      players: keys.players(shard, 'GENERATION', view),
    },
  };
}
