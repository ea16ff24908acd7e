import { isDeepStrictEqual } from 'node:util';
import { Partitioners } from 'kafkajs';
import { shardOf, type LiveBoard, type PlayerStanding } from '#board-store';
import { LogReader, logRanges } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { EXIT, readCode } from '../exit-codes.js';
import { explanationText, neighboursOf, type Explanation } from '../explanation-text.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';
import { print } from '../output.js';
import { PlayerHistory } from '../player-history.js';
import { ProgressBar } from '../progress.js';
import { withRedis, type RedisSession } from '../session.js';
import type { ReadOptions } from '../usage/options.js';

export interface ExplainOptions extends ReadOptions {
  readonly limit: number;
}

/** `ranklog explain BOARD PLAYER` */
export function explain(board: string, player: string, options: ExplainOptions): Promise<number> {
  return withKafka((kafka) =>
    withRedis(async (redis) => {
      const answer = await explained(kafka, redis, { ...options, board, player });
      print(answer, options, explanationText);
      const isRanked = answer.standing !== null && answer.matches;
      return readCode(answer.stale, isRanked ? EXIT.ok : EXIT.no);
    }),
  );
}

type Asked = ExplainOptions & { readonly board: string; readonly player: string };

async function explained(
  kafka: KafkaSession,
  redis: RedisSession,
  asked: Asked,
): Promise<Explanation> {
  const topic = kafka.topics.scoreEvents;
  await requireTopics(kafka.admin, [topic]);
  const ranges = await logRanges(kafka.admin, topic);
  const partition = partitionOf(asked.player, ranges.size);
  const { live, applied, place } = await readPlace(redis, asked, partition);
  const { view, stale, size, standing } = place;
  const begin = live.starts?.get(partition) ?? 0;
  const { start = 0, end = 0 } = ranges.get(partition) ?? {};
  const range = { partition, from: Math.max(begin, start), through: Math.min(applied, end - 1) };
  const history = new PlayerHistory({ live, playerId: asked.player, view, partition }, asked.limit);
  await readLog(kafka, range, history);
  const { counts, last, made = null } = history;
  const { columns, reachedAt } = standing ?? {};
  const matches = isDeepStrictEqual(made, standing && { columns, reachedAt });
  return {
    ...{ board: asked.board, playerId: asked.player, view, stale, size, standing },
    ...neighboursOf(live.definition, place),
    log: { ...range, cutFrom: start > begin ? begin : null },
    ...{ counts, events: last, made, matches },
  };
}

/** The partition that the producers of ranklog and of Java choose for a key. */
function partitionOf(key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => {
    return { partitionId, leader: 0, isr: [], replicas: [], partitionErrorCode: 0 };
  });
  const message = { key, value: null };
  return Partitioners.DefaultPartitioner()({ topic: '', partitionMetadata, message });
}

interface AppliedPlace {
  readonly live: LiveBoard;
  /** The last offset of the partition whose effect is in the place; -1 for none. */
  readonly applied: number;
  readonly place: PlayerStanding;
}

/** Reads a place again while events are applied meanwhile: an apply call takes longer than the reads. */
async function readPlace(
  { reader, redis, keys, status }: RedisSession,
  { board, player, view, window, where, at }: Asked,
  partition: number,
): Promise<AppliedPlace> {
  const offsets = keys.appliedOffsets(shardOf(board, await status.shards()));
  const look = async () => {
    const live = await reader.board(board);
    return { live, applied: Number((await redis.hget(offsets, String(partition))) ?? -1) };
  };
  for (let before = await look(); ;) {
    const place = await reader.player(board, player, { view, window, where, at, gaps: true });
    const after = await look();
    const isSame = after.live.generation === before.live.generation;
    if (isSame && after.applied === before.applied) return { ...after, place };
    before = after;
  }
}

/** Passes the records of a range to a history, with progress on standard error. */
async function readLog(
  { kafka, logger, topics }: KafkaSession,
  { partition, from, through }: { partition: number; from: number; through: number },
  history: PlayerHistory,
): Promise<void> {
  const bar = new ProgressBar('records read', Math.max(0, through + 1 - from));
  const start = new Map([[partition, from]]);
  const reader = await LogReader.open({ kafka, topic: topics.scoreEvents, from: start, logger });
  try {
    for (let next = from; next <= through;)
      for (const { records, nextOffset } of await reader.fetch()) {
        for (const record of records) if (record.offset <= through) history.take(record);
        next = nextOffset;
        bar.update(Math.min(next, through + 1) - from);
      }
  } finally {
    bar.stop();
    await reader.close();
  }
}
