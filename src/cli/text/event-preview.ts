import {
  decimalText,
  resolveEvent,
  suggestion,
  type BoardDefinition,
  type ResolvedEvent,
} from '#board';
import { KeySpace, shardOf } from '#board-store';
import { DEAD_LETTER_CODES, decodeScoreEvent, formatTime, type Rejection } from '#contracts';
import type { Settings } from '../../config/settings.js';
import { expiryText } from '../../query/reads/view-json.js';
import { timeOn } from './board-times.js';
import type { TimeText } from './options.js';

/**
 * The effect of a score event by the definition alone, as `boards show --event --json` prints it.
 */
export type EventPreview = ReturnType<typeof previewEvent>;

/** `at` is the timestamp of the record, by default now; `board` replaces the event's board. */
interface PreviewContext extends Pick<Settings, 'redisPrefix' | 'shards'> {
  readonly definitions: readonly BoardDefinition[];
  readonly board?: string | undefined;
  readonly at?: TimeText | undefined;
}

/** Resolves a score event as ingest does, without the state of a board. */
export function previewEvent(value: Buffer, context: PreviewContext) {
  const decoded = decodeScoreEvent({ key: null, value, headers: {} });
  if (!decoded.ok) return deadEvent(decoded);
  const { definitions, board = decoded.event.board, at } = context;
  const definition = definitions.find((known) => known.board === board);
  if (definition === undefined) {
    const known = definitions.map(({ board }) => board);
    const detail =
      `there is no board ${JSON.stringify(board)}; boards of the file: ` +
      `${known.join(', ')}${suggestion(board, known)}`;
    return deadEvent({ code: 'UNKNOWN_BOARD', detail });
  }
  const timestamp = at === undefined ? Date.now() : timeOn(definition, at);
  const resolved = resolveEvent(definition, decoded.event, timestamp);
  return resolved.ok ? movingEvent(definition, resolved.event, context) : deadEvent(resolved);
}

function deadEvent({ code, detail }: Rejection) {
  return { deadLetter: { code, detail, wayOut: DEAD_LETTER_CODES[code] } };
}

function movingEvent(
  { board, columns }: BoardDefinition,
  { playerId, occurredAt, eventId, values, views }: ResolvedEvent,
  { redisPrefix, shards }: PreviewContext,
) {
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
    views: views.map(({ view, published, expiresAt }) => ({
      view,
      published,
      expiresAt: expiryText(expiresAt), // by the event clock of the board; null: never
      keys: {
        ranking: keys.ranking(shard, 'GENERATION', view),
        players: keys.players(shard, 'GENERATION', view),
      },
    })),
    // The key of a hash from boards to the ids of their live generations: the id of this board is
    // what GENERATION stands for in the keys above.
    live: keys.live(shard),
  };
}
