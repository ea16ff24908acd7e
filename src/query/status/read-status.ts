import type { GenerationOverview, StoreStatus } from '#board-store';
import { decodeDeadLetter, formatTime } from '#contracts';
import {
  isUnauthorized,
  lastCommittedRecord,
  lastRecords,
  logRanges,
  orUnreadable,
  UnreadableBatchError,
  unreadableFrom,
} from '#kafka-batch';
import type { KafkaConnection } from '../../infra/kafka.js';
import type { AnsweringStores, Stores } from '../../infra/stores.js';
import { PublishedPositions } from '../../ingest/published-positions.js';
import { periodJson, type BoardPeriods } from '../../reconciliation/periods/period-list.js';
import { reconciliationJson } from '../../reconciliation/runs/reconciliation-json.js';
import { KeptSample } from './kept-sample.js';
import { countMisplaced, type MisplacedCounts } from './sampled-records.js';

/**
 * The state of a ranklog for those who operate it, as `ranklog status --json` prints it. Times are
 * RFC 3339.
 */
export type Status = Awaited<ReturnType<typeof readStatus>>;

type Clients = Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>;

/** What a status reads of topics, beside their ends. Keep it to read several statuses. */
export class LogSamples {
  readonly letters: KeptSample<DeadLetterCount[]>;
  readonly misplaced: KeptSample<MisplacedCounts>;

  constructor(
    clients: Clients,
    readonly periods: Pick<KeptSample<BoardPeriods[]>, 'get'>,
  ) {
    this.letters = new KeptSample(() => countDeadLetters(clients));
    this.misplaced = new KeptSample(() => countMisplaced(clients));
  }
}

/**
 * The part that Kafka knows. The closed windows are read of all boards or of none: without them
 * unless all shards answer.
 * @throws errors of Kafka
 */
export async function readLogStatus(
  clients: Clients,
  published: PublishedPositions,
  samples: LogSamples,
  allAnswer: boolean,
) {
  const [positions, letters, misplaced, boards] = await Promise.all([
    readPositions(clients, published),
    samples.letters.get(),
    samples.misplaced.get(),
    allAnswer ? samples.periods.get() : [],
  ]);
  return { positions, letters, misplaced, periods: boards.flatMap(unannouncedOf) };
}

/** The published positions as of now: those of Redis are read only once. @throws errors of Redis */
export async function readPublished(
  clients: Clients,
  group: string,
  store: Pick<StoreStatus, 'publishedPositions'>,
): Promise<PublishedPositions> {
  const ofRedis = await store.publishedPositions();
  return new PublishedPositions(clients, group, {
    publishedPositions: () => Promise.resolve(ofRedis),
  });
}

/**
 * Positions in each partition of the score topic: offsets after the last one that they include.
 * `lag`: offsets up to `committedEnd` that are not published. `stopped`: why no reader gets
 * further, if it is a batch that can't be read. Cost: a connection and two requests to each leader;
 * for each partition that lags, a look at its next records, and searches for the ends of its log
 * and of its results.
 */
export async function readPositions({ kafka, topics }: Clients, positions: PublishedPositions) {
  const topic = topics.scoreEvents;
  const stored = await positions.stored();
  const ranges = await logRanges(kafka, topic); // after the positions, so that these are in the log
  const found = [...ranges].map(async ([partition, { end: logEnd }]) => {
    const known = stored.get(partition) ?? 0;
    if (known === logEnd)
      return { partition, logEnd, committedEnd: logEnd, published: known, lag: 0, stopped: null };
    const isOfThisLog = known < logEnd; // otherwise the topic was recreated
    const published = isOfThisLog ? await publishedPosition(positions, partition, known) : 0;
    const ahead = { topic, partition, offset: published };
    const last =
      (await unreadableFrom(kafka, ahead)) ??
      // The search may meet a batch that readers have not come to yet.
      (await lastCommittedRecord(kafka, topic, partition).catch(orUnreadable));
    if (last instanceof UnreadableBatchError) {
      const lag = logEnd - published;
      return { partition, logEnd, committedEnd: logEnd, published, lag, stopped: last.message };
    }
    // Transaction markers and open transactions after the last committed record have nothing to
    // publish.
    const committedEnd = (last?.offset ?? -1) + 1;
    const lag = Math.max(0, committedEnd - published);
    // The log may have grown since its end was read.
    const end = Math.max(logEnd, committedEnd, published);
    return { partition, logEnd: end, committedEnd, published, lag, stopped: null };
  });
  return Promise.all(found);
}

/**
 * Only the role ingest needs the right to read all results. Without the right, `stored` is all that
 * can be known.
 */
async function publishedPosition(positions: PublishedPositions, partition: number, stored: number) {
  try {
    return await positions.of(partition);
  } catch (error) {
    if (isUnauthorized(error)) return stored;
    throw error;
  }
}

/** How many of the last offsets of each partition are read. */
const MOST_OFFSETS = 1_000;

/** The dead letters of one code. Times are those of publishing, as RFC 3339. */
export interface DeadLetterCount {
  readonly code: string;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Of the last one. */
  readonly detail: string;
}

/**
 * Counts the last dead letters by code, the most frequent ones first. Cost: a connection, ten
 * fetches of 1 MiB a partition.
 */
async function countDeadLetters({ kafka, topics }: Clients): Promise<DeadLetterCount[]> {
  const topic = topics.deadLetters;
  const partitions = [...(await logRanges(kafka, topic)).keys()];
  const reads = partitions.map((partition) => lastRecords(kafka, topic, partition, MOST_OFFSETS));
  const records = (await Promise.all(reads)).flat();
  const counts = new Map<string, DeadLetterCount>();
  for (const record of records.sort((one, other) => one.timestamp - other.timestamp)) {
    const letter = decodeDeadLetter(record);
    if (letter === undefined) continue;
    const { code, detail } = letter;
    const lastAt = formatTime(record.timestamp);
    const { count, firstAt } = counts.get(code) ?? { count: 0, firstAt: lastAt };
    counts.set(code, { code, count: count + 1, firstAt, lastAt, detail });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
}

function readStore({ status, catalog, continuity, leases }: Stores) {
  return Promise.all([
    status.nextOffsets(),
    status.overviews(),
    catalog.generations(),
    continuity.recoveryTargets(),
    status.boards(),
    leases.statuses(),
  ]);
}

/**
 * Joins what Redis knows with `log`. Cost: twenty requests to each shard, three for each board.
 * @throws what `log` rejects with
 */
export async function readStatus(
  { stores, waiting }: AnsweringStores,
  log: ReturnType<typeof readLogStatus>,
) {
  const [{ positions, letters, misplaced, periods }, store] = await Promise.all([
    log,
    readStore(stores),
  ]);
  const [appliedOffsets, overviews, found, recovering, { building }, reconciliations] = store;
  const generations = found.map(generationJson);
  return {
    partitions: positions.map((position) => {
      return { ...position, applied: appliedOffsets.get(position.partition) ?? 0 };
    }),
    boards: overviews.map(({ clock, ...board }) => ({ ...board, clock: timeText(clock) })),
    generations,
    recovering,
    building: [...building].sort(),
    partialHistory: generations.flatMap(({ board, generation, role, startsAt }) =>
      role === 'live' && startsAt !== null ? [{ board, generation, startsAt }] : [],
    ),
    reconciliations: reconciliations.map(reconciliationJson),
    deadLetters: letters,
    misplaced,
    periods,
    waitingShards: waiting,
  };
}

/** The closed windows of a board whose results are not announced. */
function unannouncedOf({ board, periods }: BoardPeriods) {
  const found = periods.filter(({ state }) => state !== 'open' && state !== 'announced');
  return found.map((period) => ({ board, ...periodJson(period) }));
}

/** A generation as `ranklog boards generations --json` prints it. */
export function generationJson(overview: GenerationOverview) {
  const { board, generation, role, starts, since, keptUntil, asOf } = overview;
  return {
    board,
    generation,
    role,
    since: timeText(since),
    keptUntil: timeText(keptUntil),
    asOf: timeText(asOf),
    startsAt: starts === undefined ? null : Object.fromEntries(starts),
  };
}

/** A time in ms as RFC 3339; null if there is none. */
function timeText(ms: number | null | undefined): string | null {
  return ms === undefined || ms === null ? null : formatTime(ms);
}
