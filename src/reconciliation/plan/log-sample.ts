import type { Kafka } from 'kafkajs';
import { decodeScoreEvent } from '#contracts';
import { LogReader, type KafkaRecord, type LogRange } from '#kafka-batch';
import type { LogSample, SampledEvent } from './sample-facts.js';

/** A stretch of one partition's log: holds `from`, not `to`. */
interface Stretch {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

interface Options {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly ranges: ReadonlyMap<number, LogRange>;
  readonly signal?: AbortSignal | undefined;
}

/** Records that a sample has, at most about. */
const SAMPLE_RECORDS = 9_000;
/** A log that was begun by one kind of events may be of others by now: the sample is taken at its start, middle and end. */
const PLACES = 3;
/** The end of a log may be markers of transactions alone: a place that gives nothing more is done. */
const MOST_EMPTY_ROUNDS = 3;
const FEWEST_FOR_A_RATE = 500;

/**
 * Some records of the log, or all of a short one. Cost: a connection and some requests for each of three places; well
 * under a second where Kafka is near.
 */
export async function readSample({ kafka, topic, ranges, signal }: Options): Promise<LogSample> {
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  const events: SampledEvent[] = [];
  let records = 0;
  let seconds = 0;
  for (const stretches of placesOf(ranges, total)) {
    const reader = await openAt(stretches, { kafka, topic, ranges, signal });
    try {
      const begin = performance.now();
      for await (const record of recordsOf(reader, stretches)) {
        records += 1;
        events.push(...eventOf(record));
      }
      seconds += (performance.now() - begin) / 1_000;
    } finally {
      await reader.close();
    }
  }
  const isWhole = total <= SAMPLE_RECORDS;
  return {
    events,
    records,
    total: isWhole ? records : total, // offsets of markers are no records
    rate: records < FEWEST_FOR_A_RATE ? null : Math.round(records / seconds),
  };
}

/** What is read at each place: the whole of a short log, else a part of each partition at its start, middle and end. */
function placesOf(ranges: ReadonlyMap<number, LogRange>, total: number): Stretch[][] {
  const filled = [...ranges].filter(([, { start, end }]) => end > start);
  if (total <= SAMPLE_RECORDS)
    return filled.length === 0
      ? []
      : [filled.map(([partition, { start, end }]) => ({ partition, from: start, to: end }))];
  return Array.from({ length: PLACES }, (_, place) =>
    filled.map(([partition, { start, end }]) => {
      const part = Math.ceil((SAMPLE_RECORDS / PLACES) * ((end - start) / total));
      const from = start + Math.floor(((end - start - part) * place) / (PLACES - 1));
      return { partition, from, to: from + part };
    }),
  );
}

function openAt(stretches: readonly Stretch[], { kafka, topic, signal }: Options) {
  const from = new Map(stretches.map((stretch) => [stretch.partition, stretch.from]));
  return LogReader.open({ kafka, topic, from, ...(signal === undefined ? {} : { signal }) });
}

/** The records of the stretches, as far as the log has them. */
async function* recordsOf(
  reader: LogReader,
  stretches: readonly Stretch[],
): AsyncGenerator<KafkaRecord> {
  const ends = new Map(stretches.map(({ partition, to }) => [partition, to]));
  const isWanted = (partition: number) =>
    (reader.positions.get(partition) ?? 0) < (ends.get(partition) ?? 0);
  let emptyRounds = 0;
  while ([...ends.keys()].some(isWanted) && emptyRounds < MOST_EMPTY_ROUNDS) {
    const batches = await reader.fetch(isWanted);
    emptyRounds = batches.length > 0 ? 0 : emptyRounds + Number(!reader.isWaiting);
    for (const { partition, records } of batches)
      for (const record of records) if (record.offset < (ends.get(partition) ?? 0)) yield record;
  }
}

/** Nothing for a record that is no score event. */
function eventOf(record: KafkaRecord): SampledEvent[] {
  const decoded = decodeScoreEvent(record);
  return decoded.ok ? [{ ...decoded.event, timestamp: record.timestamp }] : [];
}
