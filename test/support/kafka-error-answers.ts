import { int16, int32, KAFKA_API, text, type KafkaRequest } from './kafka-frames.js';

/** Error codes of the protocol by name; kafkajs has older names for some. */
export const KAFKA_ERROR = {
  offsetOutOfRange: 1,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  notEnoughReplicas: 19,
  illegalGeneration: 22,
  unknownMemberId: 25,
  rebalanceInProgress: 27,
  outOfOrderSequenceNumber: 45,
  invalidProducerEpoch: 47,
  concurrentTransactions: 51,
} as const;

const NO_THROTTLING = int32(0);
const NONE64 = Buffer.alloc(8, 0xff);

/**
 * The body of a response with only an error: one for the whole request, or the same one for each of
 * its partitions.
 */
export function errorAnswer(request: KafkaRequest, code: number): Buffer {
  const answer = ANSWERS.get(request.apiKey);
  if (answer === undefined) throw new Error(`no error answer is known for api ${request.apiKey}`);
  return answer(request, code);
}

type Answer = (request: KafkaRequest, code: number) => Buffer;

const plain: Answer = (_request, code) => Buffer.concat([NO_THROTTLING, int16(code)]);

/** The error, then the other fields of the response. */
const withRest =
  (...rest: readonly Buffer[]): Answer =>
  (request, code) =>
    Buffer.concat([plain(request, code), ...rest]);

/** The error for each partition of the request. */
const ofEachPartition =
  (topicsOf: (request: KafkaRequest) => Topics): Answer =>
  (request, code) =>
    Buffer.concat([NO_THROTTLING, perPartition(topicsOf(request), int16(code))]);

const ANSWERS: ReadonlyMap<number, Answer> = new Map([
  [KAFKA_API.heartbeat, plain],
  [KAFKA_API.addOffsetsToTxn, plain],
  [KAFKA_API.endTxn, plain],
  [KAFKA_API.syncGroup, withRest(int32(0))],
  [KAFKA_API.joinGroup, withRest(int32(-1), text(''), text(''), text(''), int32(0))],
  [KAFKA_API.fetch, fetchAnswer],
  [KAFKA_API.initProducerId, withRest(NONE64, int16(-1))],
  // From version 3 on
  [KAFKA_API.offsetFetch, (_, code) => Buffer.concat([int32(0), int32(0), int16(code)])],
  [KAFKA_API.findCoordinator, withRest(int16(-1), int32(-1), text(''), int32(-1))],
  [KAFKA_API.addPartitionsToTxn, ofEachPartition(topicsAdded)],
  [KAFKA_API.txnOffsetCommit, ofEachPartition(topicsCommitted)],
  [KAFKA_API.produce, produceAnswer],
]);

type Topics = ReadonlyMap<string, readonly number[]>;

function produceAnswer(request: KafkaRequest, code: number): Buffer {
  const logStart = request.version >= 5 ? NONE64 : Buffer.alloc(0);
  const ofPartition = Buffer.concat([int16(code), NONE64, NONE64, logStart]);
  return Buffer.concat([perPartition(topicsProduced(request), ofPartition), NO_THROTTLING]);
}

/**
 * Version 11, as kafkajs requests it: no session error, no offsets, no preferred replica, no
 * records.
 */
function fetchAnswer(request: KafkaRequest, code: number): Buffer {
  const ofPartition = [int16(code), NONE64, NONE64, NONE64, int32(0), int32(-1), int32(0)];
  const session = [int16(0), int32(0)];
  const partitions = perPartition(topicsFetched(request), Buffer.concat(ofPartition));
  return Buffer.concat([NO_THROTTLING, ...session, partitions]);
}

/** The same bytes for each partition, grouped by topic. */
function perPartition(topics: Topics, ofPartition: Buffer): Buffer {
  const parts = [int32(topics.size)];
  for (const [topic, partitions] of topics) {
    parts.push(text(topic), int32(partitions.length));
    for (const partition of partitions) parts.push(int32(partition), ofPartition);
  }
  return Buffer.concat(parts);
}

function topicsAdded({ body }: KafkaRequest): Topics {
  const reader = new Reader(body);
  reader.text(); // transactional id
  reader.skip(8 + 2); // producer id and epoch
  return reader.topics(() => reader.int32());
}

function topicsCommitted({ body }: KafkaRequest): Topics {
  const reader = new Reader(body);
  reader.text(); // transactional id
  reader.text(); // group
  reader.skip(8 + 2);
  return reader.topics(() => {
    const partition = reader.int32();
    reader.skip(8); // offset
    reader.text(); // metadata
    return partition;
  });
}

function topicsProduced({ body }: KafkaRequest): Topics {
  const reader = new Reader(body);
  reader.text(); // transactional id
  reader.skip(2 + 4); // acks and timeout
  return reader.topics(() => {
    const partition = reader.int32();
    reader.skip(reader.int32()); // records
    return partition;
  });
}

function topicsFetched({ body }: KafkaRequest): Topics {
  const reader = new Reader(body);
  reader.skip(4 + 4 + 4 + 4 + 1 + 4 + 4); // replica, limits, isolation, session
  return reader.topics(() => {
    const partition = reader.int32();
    reader.skip(4 + 8 + 8 + 4); // epoch, offsets, size
    return partition;
  });
}

/** Reads values from the front of a body. */
class Reader {
  #at = 0;

  constructor(private readonly body: Buffer) {}

  int32(): number {
    this.skip(4);
    return this.body.readInt32BE(this.#at - 4);
  }

  text(): string {
    this.skip(2);
    const length = Math.max(0, this.body.readInt16BE(this.#at - 2));
    this.skip(length);
    return this.body.toString('utf8', this.#at - length, this.#at);
  }

  topics(partition: () => number): Topics {
    return new Map(this.#list(() => [this.text(), this.#list(partition)] as const));
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  #list<T>(read: () => T): T[] {
    return Array.from({ length: this.int32() }, read);
  }
}
