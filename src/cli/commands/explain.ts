import type { BoardDefinition } from '#board';
import { shardOf, type PlayerStanding, type Standing } from '#board-store';
import { logRanges, partitionOf } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { EXIT, readCode } from '../exit-codes.js';
import { readLog, withKafka, type KafkaSession } from '../kafka-session.js';
import { print, table } from '../output.js';
import { PlayerHistory, type HistoryEntry } from '../player-history.js';
import { withRedis, type RedisSession } from '../session.js';
import type { ReadOptions } from '../usage/options.js';

type ExplainOptions = ReadOptions & { readonly limit: number };

export function explain(board: string, player: string, options: ExplainOptions): Promise<number> {
  return withKafka((kafka) =>
    withRedis(async (redis) => {
      const answer = await explained(kafka, redis, { ...options, board, player });
      print(answer, options, toText);
      const isExplained = answer.standing !== null && answer.unexplained.length === 0;
      return readCode(answer.stale, isExplained ? EXIT.ok : EXIT.no);
    }),
  );
}

type Asked = ExplainOptions & { readonly board: string; readonly player: string };

/** The place of a player, and the player's events in the log that were applied just before it was read. */
async function explained(kafka: KafkaSession, redis: RedisSession, asked: Asked) {
  const { reader, keys, status } = redis;
  const topic = kafka.topics.scoreEvents;
  await requireTopics(kafka.admin, [topic]);
  const live = await reader.board(asked.board);
  const { definition, starts } = live;
  const offsets = keys.appliedOffsets(shardOf(asked.board, await status.shards()));
  const applied = await redis.redis.hgetall(offsets);
  const place = await reader.player(asked.board, asked.player, { ...asked, gaps: true });
  const ranges = await logRanges(kafka.admin, topic);
  const partition = partitionOf(asked.player, ranges.size);
  const held = ranges.get(partition) ?? { start: 0, end: 0 };
  const start = Math.max(starts?.get(partition) ?? 0, held.start);
  const end = Math.min(Number(applied[partition] ?? -1) + 1, held.end);
  const history = new PlayerHistory(live, place, asked.limit);
  for await (const record of readLog(kafka, new Map([[partition, { start, end }]])))
    if (record.offset < end) history.take(record);
  const { board, playerId, view, stale, size, standing } = place;
  const { count, last: events, unexplained } = history;
  return {
    ...{ board, playerId, view, stale, size, standing, ...neighboursOf(definition, place) },
    ...{ partition, offsets: { start, end }, count, events, unexplained },
  };
}

/** The neighbours of a player, each with what decides between the two. */
function neighboursOf(definition: BoardDefinition, { standing, above, below }: PlayerStanding) {
  const decided = (better: Standing, worse: Standing) => decisionText(definition, better, worse);
  return {
    above: standing && above ? { ...above, decidedBy: decided(above, standing) } : null,
    below: standing && below ? { ...below, decidedBy: decided(standing, below) } : null,
  };
}

/** `points 12 > 10`, or the reach times or ids of players with equal columns, the better one first. */
function decisionText({ columns, ties }: BoardDefinition, better: Standing, worse: Standing) {
  const column = columns.find(({ name }) => better.columns[name] !== worse.columns[name]);
  if (column !== undefined) {
    const sign = column.order === 'desc' ? '>' : '<';
    return `${column.name} ${better.columns[column.name]} ${sign} ${worse.columns[column.name]}`;
  }
  if (ties === 'none' || better.reachedAt === worse.reachedAt)
    return `equal in all; the id ${better.playerId} comes before ${worse.playerId}`;
  const order = ties === 'earliest' ? 'before' : 'after';
  return `equal columns; reached ${better.reachedAt} ${order} ${worse.reachedAt}`;
}

type Explanation = Awaited<ReturnType<typeof explained>>;

function toText(found: Explanation): string {
  const { board, playerId, view, size, standing, above, below, events, unexplained } = found;
  const rank = standing === null ? 'not ranked' : `rank ${standing.rank} of ${size}`;
  const lines = [`${playerId} on ${board}, ${view}: ${rank}`];
  if (above) lines.push(`${above.playerId} is in front: ${above.decidedBy}`);
  if (below) lines.push(`${below.playerId} is behind: ${below.decidedBy}`);
  if (events.length > 0) lines.push('', eventsTable(events));
  lines.push('', countLine(found));
  if (unexplained.length > 0)
    lines.push(`These events do not explain: ${unexplained.join(', ')}. ${REASONS}`);
  return lines.join('\n');
}

const REASONS =
  'Possible reasons: events under other keys, events refused for maxViews or a sum, a log whose beginning is gone, or a change while the command read. "ranklog boards verify" compares the board with the whole log.';

function eventsTable(events: readonly HistoryEntry[]): string {
  const names = [...new Set(events.flatMap(({ values }) => Object.keys(values)))];
  const rows = events.map(({ offset, occurredAt, values, effect }) => {
    return [offset, occurredAt ?? '-', ...names.map((name) => values[name] ?? '-'), effect];
  });
  return table(['offset', 'occurred', ...names, 'effect'], rows);
}

function countLine({ count, events, partition, offsets: { start, end } }: Explanation): string {
  const shown = events.length < count ? `; the last ${events.length} are shown` : '';
  return `${count} events in partition ${partition}, from offset ${start} to before ${end}${shown}. Events under other keys are left out.`;
}
