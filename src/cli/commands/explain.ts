import type { BoardDefinition } from '#board';
import { shardOf, type PlayerStanding, type Standing } from '#board-store';
import { logRanges, partitionOf, type LogRange } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { openKafka, readWithProgress, type KafkaSession } from '../sessions/kafka-session.js';
import { PlayerHistory } from '../sessions/player-history.js';
import { openRedis, type RedisSession } from '../sessions/session.js';
import { withTime } from '../text/board-times.js';
import { EXIT, readCode } from '../text/exit-codes.js';
import type { ReadOptions } from '../text/options.js';
import { print, table } from '../text/output.js';
import { banJson, entryText } from '../text/player-text.js';

type ExplainOptions = ReadOptions & { readonly limit: number; readonly allPartitions?: boolean };

export async function explain(
  board: string,
  player: string,
  options: ExplainOptions,
): Promise<number> {
  await using kafka = await openKafka();
  using redis = await openRedis();
  const answer = await explained(kafka, redis, { ...options, board, player });
  print(answer, options, toText);
  const isExplained = answer.standing !== null && answer.unexplained.length === 0;
  return readCode(answer.stale, isExplained ? EXIT.ok : EXIT.no);
}

type Asked = ExplainOptions & { readonly board: string; readonly player: string };

/**
 * The place of a player, and the player's events in the log that were applied just before it was
 * read.
 */
async function explained(kafka: KafkaSession, redis: RedisSession, asked: Asked) {
  const { reader, keys, status } = redis.stores;
  const topic = kafka.topics.scoreEvents;
  await requireTopics(kafka.admin, [topic]);
  const live = await reader.board(asked.board);
  const offsets = keys.appliedOffsets(shardOf(asked.board, await status.shards()));
  const applied = await redis.redis.hgetall(offsets);
  const selection = await withTime(reader, asked.board, asked);
  const place = await reader.player(asked.board, asked.player, { ...selection, gaps: true });
  const ban = await reader.ban(asked.board, asked.player);
  const held = await logRanges(kafka.kafka, topic);
  const only = asked.allPartitions ? undefined : partitionOf(asked.player, held.size);
  const history = new PlayerHistory(live, place, ban, asked.limit);
  const ranges = new Map<number, LogRange>();
  for (const [partition, range] of held) {
    if (only !== undefined && partition !== only) continue;
    const start = Math.max(live.starts?.get(partition) ?? 0, range.start);
    const end = Math.min(Number(applied[partition] ?? -1) + 1, range.end);
    ranges.set(partition, { start, end });
    history.begin(partition);
    for await (const record of readWithProgress(kafka, new Map([[partition, { start, end }]])))
      history.take(record);
  }
  const { board, playerId, view, stale, size, standing } = place;
  const { count, last: events, unexplained } = history;
  return {
    ...{ board, playerId, view, stale, size, standing, ...neighboursOf(live.definition, place) },
    partition: only ?? null,
    offsets: only === undefined ? null : (ranges.get(only) ?? null),
    partitions: held.size,
    ban: ban === null ? null : banJson(board, ban),
    ...{ count, events, unexplained },
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

/**
 * `points 12 > 10`, or the reach times or ids of players with equal columns, the better one first.
 */
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
  const { board, playerId, view, size, standing, above, below, unexplained } = found;
  const rank = standing === null ? 'not ranked' : `rank ${standing.rank} of ${size}`;
  const lines = [`${playerId} on ${board}, ${view}: ${rank}`];
  if (found.ban) lines.push(entryText(found.ban));
  if (above) lines.push(`${above.playerId} is in front: ${above.decidedBy}`);
  if (below) lines.push(`${below.playerId} is behind: ${below.decidedBy}`);
  if (found.events.length > 0) lines.push('', eventsTable(found));
  lines.push('', countLine(found));
  if (found.partition !== null && found.count === 0 && found.partitions > 1)
    lines.push(elsewhereText(found.partition));
  else if (unexplained.length > 0) lines.push(reasonsText(found));
  return lines.join('\n');
}

/** For a player without an event in the partition of the player's key. */
function elsewhereText(partition: number): string {
  return (
    `Kafka's default partitioner puts the events of this player into partition ${partition}. ` +
    'Producers without the player id as key, or with another partitioner, put them into others; ' +
    'that of librdkafka (Python, Go, .NET, C) is another one by default. ' +
    '"--all-partitions" reads all partitions.'
  );
}

function reasonsText({ unexplained, partition }: Explanation): string {
  const elsewhere =
    partition === null ? '' : 'events in other partitions ("--all-partitions" reads them), ';
  return (
    `These events do not explain: ${unexplained.join(', ')}. Possible reasons: ` +
    `${elsewhere}events refused for maxViews or a sum, a log whose beginning is gone, or a ` +
    'change while the command read. "ranklog boards verify" compares the board with the whole ' +
    'log.'
  );
}

function eventsTable({ events, partition: only }: Explanation): string {
  const names = [...new Set(events.flatMap(({ values }) => Object.keys(values)))];
  const rows = events.map(({ partition, offset, occurredAt, values, effect }) => {
    const place = only === null ? [partition, offset] : [offset];
    return [...place, occurredAt ?? '-', ...names.map((name) => values[name] ?? '-'), effect];
  });
  const place = only === null ? ['partition', 'offset'] : ['offset'];
  return table([...place, 'occurred', ...names, 'effect'], rows);
}

function countLine({ count, events, partition, partitions, offsets }: Explanation): string {
  const shown = events.length < count ? `; the last ${events.length} are shown` : '';
  if (partition === null || offsets === null)
    return `${count} records of the player in ${partitions} partitions${shown}.`;
  const { start, end } = offsets;
  return (
    `${count} records of the player in partition ${partition}, from offset ${start} to before ` +
    `${end}${shown}. Other partitions are left out.`
  );
}
