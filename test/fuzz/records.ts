import assert from 'node:assert';
import fc from 'fast-check';
import { MAX_VIEWS_OF_AN_EVENT, parseView } from '#board';
import { KeySpace, parseBan, shardOf, type Boards, type EventEntry } from '#board-store';
import {
  cloudEventHeaders,
  DEAD_LETTER_CODES,
  decodeDeadLetter,
  encodeDeadLetter,
  encodePlayerRecord,
  encodeRetry,
  isId,
  MAX_HEADERS,
  SCORE_EVENT_TYPE,
  type DeadLetterReason,
} from '#contracts';
import { BatchEncoder, type KafkaRecord } from '#kafka-batch';
import type { ReadRecord } from '../../src/ingest/read-record.js';
import { BASE_TIME } from '../model/arbitrary.js';
import { encodeHeaders, HOSTILE_NAMES, type SentHeader } from '../support/record-headers.js';
import { editedArbitrary, editedBytesArbitrary } from './edits.js';
import { DEFINITIONS, EVENT_TEXTS } from './inputs.js';

/** The boards of all files, live. */
export const BOARDS: Boards = {
  live: new Map(
    [...DEFINITIONS].map(([board, definition]) => [board, { board, generation: 'g', definition }]),
  ),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

const { ce_id, ce_source, ...others } = cloudEventHeaders({
  ...{ id: 'e-1', type: SCORE_EVENT_TYPE, source: '/games' },
});
const HEADERS = {
  ...{ ce_id, ce_source, ...others },
  ranklog_retry_of: 'ranklog.score-events/3/17',
  ranklog_retry_timestamp: String(BASE_TIME),
};

const PLAYER_RECORD = encodePlayerRecord(
  'banned',
  { board: 'arcade', playerId: 'ada', reason: 'a "bot"', by: 'op' },
  { id: 'b-1', source: '/games', time: BASE_TIME },
);

/** Headers as producers send them, also with names that are no names of ranklog. */
const sentArbitrary: fc.Arbitrary<SentHeader[]> = fc.array(
  fc.tuple(
    fc.constantFrom(...Object.keys(HEADERS), ...HOSTILE_NAMES),
    fc.oneof(fc.constantFrom(null, ...Object.values(HEADERS)), editedBytesArbitrary(['x'])),
  ),
  { minLength: 1, maxLength: 6 },
);
/** Sometimes many of them. */
const encodedArbitrary = fc
  .tuple(sentArbitrary, fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 60, 600))
  .map(([sent, times]) => encodeHeaders(Array.from({ length: times }, () => sent).flat()));

const ALL_HEADERS = [...Object.entries(HEADERS), ...Object.entries(PLAYER_RECORD.headers)];
const headerArbitrary = fc.constantFrom(...ALL_HEADERS).chain(([name, value]) => {
  const bytes = editedBytesArbitrary([value]);
  const text = editedArbitrary([value]);
  const list = fc.array(text, { maxLength: 3 });
  return fc.tuple(fc.constant(name), fc.oneof(bytes, text, list, fc.constant(undefined)));
});
const headersArbitrary: fc.Arbitrary<KafkaRecord['headers']> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant(HEADERS) },
  { weight: 1, arbitrary: fc.constant(PLAYER_RECORD.headers) },
  {
    weight: 1,
    arbitrary: fc
      .array(headerArbitrary, { minLength: 1, maxLength: 4 })
      .map((pairs) => Object.fromEntries(pairs)),
  },
);

const MAX_BYTES = 100_000;

const timestampArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.constant(BASE_TIME) },
  fc.constantFrom(0, -1, 2 ** 53 - 1, -(2 ** 53), Date.parse('9999-12-31T23:59:59.999Z')),
);

/** Records of the score topic whose values and headers are changes of valid ones. */
const objectArbitrary: fc.Arbitrary<KafkaRecord> = fc.record({
  offset: fc.constant(0),
  timestamp: timestampArbitrary,
  key: fc.constant(null),
  value: fc.oneof(
    { weight: 99, arbitrary: editedBytesArbitrary([...EVENT_TEXTS, PLAYER_RECORD.value]) },
    fc.constantFrom(null, Buffer.alloc(0), Buffer.from('\uFEFF{}')),
  ),
  headers: headersArbitrary,
});

/** The same; at times with headers that are read from the bytes of a record. */
export const recordArbitrary: fc.Arbitrary<KafkaRecord> = fc
  .tuple(objectArbitrary, fc.option(encodedArbitrary, { freq: 3 }))
  .map(([record, encodedHeaders]) => {
    if (encodedHeaders === null) return record;
    return { ...record, headers: encodedHeaders.decode(), encodedHeaders };
  });

const SOURCE = { topic: 'ranklog.score-events', partition: 3, offset: 17 };

/**
 * @throws unless the dead letter of a record can be written, and has its reason and its place; the
 * same for the retry
 */
export function assertDeadLetter(record: KafkaRecord, reason: DeadLetterReason): void {
  const letter = encodeDeadLetter(SOURCE, record, reason, MAX_BYTES);
  const batches = new BatchEncoder(MAX_BYTES);
  batches.add(letter);
  assert(batches.close().every(({ bytes }) => bytes.length <= MAX_BYTES));
  assert(Object.keys(letter.headers).length <= MAX_HEADERS + 20);
  const decoded = decodeDeadLetter(letter);
  const { topic, partition, offset } = SOURCE;
  assert.deepEqual(
    [decoded?.code, decoded?.topic, decoded?.partition, decoded?.offset],
    [reason.code, topic, partition, offset],
  );
  new BatchEncoder().add(encodeRetry(letter, { ...SOURCE, timestamp: record.timestamp }));
}

/**
 * @throws unless the result of reading a record is an event that Redis can take, or a dead letter
 * with a known reason
 */
export function assertReadable({ record, entry, event }: ReadRecord): void {
  if (entry.kind === 'none') return;
  if (entry.kind === 'event') {
    assertStorable(entry);
    return;
  }
  if (entry.kind === 'player') {
    assert(parseBan(entry.playerId, entry.entry).offset === entry.offset);
    return;
  }
  assert(Object.hasOwn(DEAD_LETTER_CODES, entry.code), entry.code);
  assert(entry.detail !== '' && entry.detail.isWellFormed(), entry.detail);
  assert(Buffer.byteLength(entry.detail) <= 1_024, 'the detail is too long');
  assert(event === undefined || isId(event.playerId));
  assertDeadLetter(record, entry);
}

const PREFIX = 'ranklog';
const keys = new KeySpace(PREFIX);
const SHARDS = 4;

function assertStorable({ board, event }: EventEntry): void {
  assert(isId(event.playerId) && (event.eventId === undefined || isId(event.eventId)));
  assert(Number.isSafeInteger(event.occurredAt));
  for (const value of event.values) assert(value === null || Number.isSafeInteger(value));
  assert(event.views.length <= MAX_VIEWS_OF_AN_EVENT, 'too many views');
  const shard = shardOf(board, SHARDS);
  for (const { view } of event.views) {
    parseView(view);
    for (const key of keys.ofView(shard, 'g', view)) assertOurs(key, shard);
  }
  for (const key of Object.values(keys.ofRoles(shard, board))) assertOurs(key, shard);
}

/** Redis Cluster takes what is in the first braces as the hash tag. */
function assertOurs(key: string, shard: number): void {
  assert(key.startsWith(`${PREFIX}:`), key);
  assert.equal(/{(.*?)}/.exec(key)?.[1], `${PREFIX}:${shard}`);
}
