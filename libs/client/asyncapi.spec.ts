import { readFileSync } from 'node:fs';
import specs from '@asyncapi/specs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import kafkajs, { Kafka } from 'kafkajs';
import {
  DEAD_LETTER_CODES,
  decodeDeadLetter,
  decodeDefinitionRecord,
  decodeLeaderChange,
  decodePeriodResult,
  decodePlayerRecord,
  decodeRankChange,
  decodeScoreEvent,
  encodeDeadLetter,
  encodeDefinitionRecord,
  encodeLeaderChange,
  encodePeriodResult,
  encodePlayerRecord,
  encodeRankChange,
  isEventTime,
  PLAYER_RECORD_TYPES,
  playerRecordProblem,
  topicNames,
  type PlayerRecordKind,
  type RawRecord,
} from '#contracts';
import { asyncApi } from '../../scripts/api-docs/asyncapi.mjs';
import { definitionArbitrary } from '../../test/model/definitions.js';
import {
  leaderChange,
  mutated,
  periodResult,
  playerRecord,
  rankChange,
  scoreEvent,
} from '../../test/support/contract-values.js';
import { ScoreProducer } from './score-producer.js';

interface Example {
  readonly name: string;
  readonly headers: Record<string, string>;
  readonly payload: { readonly board?: string } | string | null;
}

interface Message {
  readonly headers: { readonly properties: object };
  readonly examples?: readonly Example[];
}

interface Document {
  readonly channels: Record<string, { readonly address: string; readonly messages: object }>;
  readonly components: { readonly messages: Record<string, Message> };
}

const document = JSON.parse(readFileSync('docs/reference/asyncapi.json', 'utf8')) as Document;
const { messages } = document.components;
const schemas = new Ajv({ strict: false, formats: { 'date-time': isEventTime } });
schemas.addSchema(document, 'asyncapi');

/** A record as kafkajs takes it. */
interface Sent {
  readonly key: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Why a record is not a message of the document. */
function problems(message: string, { key, value, headers }: Sent): string[] {
  const path = `asyncapi#/components/messages/${message}`;
  const text = value?.toString() ?? null;
  const payload: unknown = message === 'DeadLetter' ? text : JSON.parse(text ?? '');
  const texts = Object.entries(headers).map(([name, header]) => [name, String(header)]);
  return [
    ...errors(`${path}/bindings/kafka/key`, key?.toString() ?? null),
    ...errors(`${path}/headers`, Object.fromEntries(texts)),
    ...errors(`${path}/payload`, payload),
  ];
}

function errors($ref: string, value: unknown): string[] {
  const validate = schemas.getSchema($ref)!;
  void validate(value);
  return (validate.errors ?? []).map((error) => `${$ref}${error.instancePath} ${error.message}`);
}

/** All values of `$ref` within a value. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === '$ref' ? [part as string] : references(part),
  );
}

describe('docs/reference/asyncapi.json', () => {
  it('describes the records as they are (if not: npm run api-docs)', () => {
    expect(JSON.parse(JSON.stringify(asyncApi()))).toEqual(document);
  });

  it('is a document of AsyncAPI 3, whose references have targets', () => {
    const official = new Ajv({ strict: false, validateFormats: false });
    official.validate(specs.schemasWithoutId['3.0.0'] as object, document);
    expect(official.errors ?? []).toEqual([]);
    for (const reference of new Set(references(document)))
      expect([reference, schemas.getSchema(`asyncapi${reference}`)]).toEqual([
        reference,
        expect.any(Function),
      ]);
  });

  it('has all topics, and each message in one of them', () => {
    const channels = Object.values(document.channels);
    expect(channels.map(({ address }) => address).sort()).toEqual(
      Object.values(topicNames()).sort(),
    );
    const used = channels.flatMap((channel) => Object.keys(channel.messages));
    expect(used).toEqual(Object.keys(messages));
  });
});

describe('an example of the document', () => {
  const decoders: Record<string, (record: RawRecord) => unknown> = {
    ScoreEvent: (record) => decodeScoreEvent(record).ok,
    PlayerRecord: (record) => decodePlayerRecord({ ...record, timestamp: NOON })?.ok,
    RankChange: decodeRankChange,
    LeaderChange: decodeLeaderChange,
    PeriodResult: decodePeriodResult,
    DeadLetter: decodeDeadLetter,
    Definition: decodeDefinitionRecord,
  };
  const examples = Object.entries(messages).flatMap(([message, { examples = [] }]) =>
    examples.map((example) => [message, example.name, example] as const),
  );

  it.each(examples)('of %s is valid, and ranklog decodes it: %s', (message, _, example) => {
    const { headers, payload } = example;
    const isText = typeof payload === 'string' || payload === null;
    const value = isText ? payload : JSON.stringify(payload);
    const key = isText ? null : (payload.board ?? null);
    expect(problems(message, { key: key ?? '', value, headers })).toEqual([]);
    const record = { key: bytes(key), value: bytes(value), headers };
    expect(decoders[message]?.(record)).toBeTruthy();
  });

  it('exists of each record that other services may send or receive', () => {
    expect(new Set(examples.map(([message]) => message))).toEqual(new Set(Object.keys(decoders)));
  });
});

/** In the hour of the golden records. */
const NOON = Date.parse('2026-11-20T09:00:00Z');

const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));

/** Values of a random kind that ranklog accepts. */
const accepted = <T>(values: fc.Arbitrary<T>, accept: (value: T) => unknown) =>
  values.filter((value) => isAccepted(() => accept(value)));

function isAccepted(accept: () => unknown): boolean {
  try {
    accept();
    return true;
  } catch {
    return false;
  }
}
const recordOf = (json: string): RawRecord => ({
  key: null,
  value: Buffer.from(json),
  headers: {},
});

const producer = new ScoreProducer({
  kafka: new Kafka({ brokers: [], logLevel: kafkajs.logLevel.NOTHING }),
});
const sent = (json: string) => producer.toMessage(json) as Sent;

const kinds = fc.constantFrom(...(Object.keys(PLAYER_RECORD_TYPES) as PlayerRecordKind[]));

function requirePlayerRecord(record: unknown): void {
  const problem = playerRecordProblem(record);
  if (problem !== undefined) throw new Error(problem);
}

/** Decodes a value as that of a ban. */
function sentPlayerRecord(json: string): void {
  const headers = { ce_type: Buffer.from(PLAYER_RECORD_TYPES.banned) };
  const decoding = decodePlayerRecord({ ...recordOf(json), headers, timestamp: NOON });
  if (decoding?.ok !== true) throw new Error(json);
}

const definitions = fc.record({
  board: fc.constant('arena'),
  generation: fc.constant('1795165200000000-0a1b2c3d'),
  since: fc.integer({ min: 1 }),
  definition: fc.option(definitionArbitrary('arena')),
  starts: fc
    .dictionary(fc.nat({ max: 9 }).map(String), fc.maxSafeNat())
    .map(
      (starts) =>
        new Map(Object.entries(starts).map(([partition, from]) => [Number(partition), from])),
    ),
});

/** Sizes around those that a dead letter leaves out. */
const buffer = fc.option(
  fc.oneof(
    fc.uint8Array().map((array) => Buffer.from(array)),
    fc.constantFrom(256, 300, 900).map((size) => Buffer.alloc(size)),
  ),
);
const deadLetters = fc
  .record({
    record: fc.record({
      key: buffer,
      value: buffer,
      headers: fc.dictionary(fc.string(), fc.constantFrom('', 'a', 'a'.repeat(400))),
    }),
    source: fc.record({ topic: fc.string(), partition: fc.nat(), offset: fc.maxSafeNat() }),
    code: fc.constantFrom(...Object.keys(DEAD_LETTER_CODES)),
    maxBytes: fc.integer({ min: 300, max: 3_000 }),
  })
  .map(({ record, source, code, maxBytes }) =>
    encodeDeadLetter(source, { ...record, timestamp: 0 }, { code, detail: 'why' }, maxBytes),
  );

/**
 * JSON Schema has no words for these: lone surrogates, and JSON numbers that a double may not hold.
 */
const LONE_SURROGATE = /\\ud[89a-f]/;
const LONG_NUMBER = /[\d.]{16}|\de/;
const NEVER = /^$/;

describe('a random record', () => {
  it.each<[string, fc.Arbitrary<Sent>]>([
    [
      'ScoreEvent',
      accepted(
        scoreEvent.map((event) => JSON.stringify(event)),
        sent,
      ).map(sent),
    ],
    [
      'PlayerRecord',
      fc
        .tuple(kinds, accepted(playerRecord, requirePlayerRecord), fc.integer({ min: 0 }))
        .map(([kind, record, time]) =>
          encodePlayerRecord(kind, record, { id: 'b-1', source: '/ranklog/cli', time }),
        ),
    ],
    [
      'RankChange',
      accepted(rankChange, (one) => decodeRankChange(recordOf(JSON.stringify(one)))).map((one) =>
        encodeRankChange(one, JSON.stringify(one.changes)),
      ),
    ],
    [
      'LeaderChange',
      accepted(leaderChange, (one) => decodeLeaderChange(recordOf(JSON.stringify(one)))).map(
        encodeLeaderChange,
      ),
    ],
    [
      'PeriodResult',
      accepted(periodResult, (one) => decodePeriodResult(recordOf(JSON.stringify(one)))).map(
        (one) => encodePeriodResult(one, 'ranklog.score-events'),
      ),
    ],
    ['Definition', definitions.map((one) => encodeDefinitionRecord(one, 'ranklog.definitions'))],
    ['DeadLetter', deadLetters],
  ])('that ranklog sends is a valid %s', (message, records) => {
    fc.assert(
      fc.property(records, (record) => {
        expect(problems(message, record)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('of the dead letter topic has no header of ranklog that the document lacks', () => {
    const described = Object.keys(messages['DeadLetter']?.headers.properties ?? {});
    fc.assert(
      fc.property(deadLetters, ({ headers }) => {
        const own = Object.keys(headers).filter((name) => name.startsWith('ranklog_'));
        expect(described).toEqual(expect.arrayContaining(own));
      }),
    );
  });

  it.each<[string, fc.Arbitrary<unknown>, RegExp, (json: string) => unknown]>([
    ['ScoreEvent', mutated(scoreEvent), LONG_NUMBER, sent],
    ['PlayerRecord', mutated(playerRecord), NEVER, sentPlayerRecord],
    ['RankChange', mutated(rankChange), NEVER, (json) => decodeRankChange(recordOf(json))],
    ['LeaderChange', mutated(leaderChange), NEVER, (json) => decodeLeaderChange(recordOf(json))],
    ['PeriodResult', mutated(periodResult), NEVER, (json) => decodePeriodResult(recordOf(json))],
  ])('with wrong parts is valid if and only if ranklog accepts it: %s', (...args) => {
    const [message, values, excepted, accept] = args;
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(values, (value) => {
        const json = JSON.stringify(value);
        fc.pre(!LONE_SURROGATE.test(json) && !excepted.test(json));
        const isValid =
          errors(`asyncapi#/components/messages/${message}/payload`, JSON.parse(json)).length === 0;
        seen[isValid ? 'valid' : 'invalid'] += 1;
        expect(isValid).toBe(isAccepted(() => accept(json)));
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(50);
  });
});
