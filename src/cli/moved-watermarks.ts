import type { Redis } from 'ioredis';
import { WatermarkStore, shardOf, type BoardReader, type KeySpace } from '#board-store';
import { movedWatermarks, type SeenWatermark } from '../reconciliation/moved-watermarks.js';
import type { KafkaSession } from './kafka-session.js';
import { table } from './output.js';

/** A watermark that is not that of what was applied, and the shard that it is of. */
export interface MovedInShard extends SeenWatermark {
  readonly shard: number;
}

interface StoreSession {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly reader: Pick<BoardReader, 'boards' | 'shards'>;
}

/** A part of the log may be read, and a broker be away. */
const LOOK_FOR_MS = 30_000;

/** Of all shards that have a board. Cost: some requests a shard, and a second more where there are any. @throws TimeoutError after 30 s */
export async function readMoved(
  { kafka, admin, topics, logger }: KafkaSession,
  { redis, keys, reader }: StoreSession,
): Promise<MovedInShard[]> {
  const shards = await reader.shards();
  const watermarks = new WatermarkStore(redis, keys, { shards });
  const parts = { kafka, admin, topic: topics.scoreEvents, watermarks, logger };
  const { live, building } = await reader.boards();
  const boards = new Map([...live.keys(), ...building].map((one) => [shardOf(one, shards), one]));
  const signal = AbortSignal.timeout(LOOK_FOR_MS);
  const moved = [...boards].map(async ([shard, board]) =>
    (await movedWatermarks(parts, board, signal)).map((one) => ({ shard, ...one })),
  );
  return (await Promise.all(moved)).flat().sort(byPlace);
}

/** As `status --json` has it. */
export function movedJson({ shard, kept, record, log }: MovedInShard) {
  const { partition, watermark } = kept;
  return {
    ...{ shard, partition },
    watermark: watermark ?? null,
    lastApplied: record?.offset ?? null,
    logEnd: log.end,
  };
}

/** Nothing where none was moved. */
export function movedText(moved: readonly MovedInShard[]): string[] {
  if (moved.length === 0) return [];
  const rows = moved.map((one) => {
    const { shard, partition, watermark, lastApplied, logEnd } = movedJson(one);
    return [shard, partition, watermark ?? '-', lastApplied ?? '-', logEnd];
  });
  const head = ['shard', 'partition', 'watermark', 'last applied', 'log end'];
  return [
    'Watermarks in Redis that are not those of what was applied: these partitions are applied no further. "ranklog boards rebuild" ' +
      `of a board of the shard puts them right, or says why it can't:\n\n${table(head, rows)}`,
  ];
}

function byPlace(a: MovedInShard, b: MovedInShard): number {
  return a.shard - b.shard || a.kept.partition - b.kept.partition;
}
