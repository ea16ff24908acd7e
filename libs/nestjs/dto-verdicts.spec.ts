import { describe, expect, it } from '@jest/globals';
import { BadRequestException, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { stripProtoKeys } from '@nestjs/common/utils/strip-proto-keys.util.js';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import {
  decodeLeaderChange,
  decodePeriodResult,
  decodePlayerRecord,
  decodeRankChange,
  decodeText,
  MalformedRecordError,
  PLAYER_RECORD_TYPES,
  type RawRecord,
} from '#contracts';
import {
  LeaderChangeDto,
  PeriodResultDto,
  PlayerRecordDto,
  RankChangeDto,
  ScoreEventDto,
} from '#contracts/dto';
import {
  anyJson,
  changed,
  leaderChange,
  mutated,
  periodResult,
  playerRecord,
  rankChange,
  scoreEvent,
  validScoreEvent,
  withOddNames,
} from '../../test/support/contract-values.js';

const PIPES = (
  [
    {},
    { whitelist: true },
    { transformOptions: { enableImplicitConversion: true } },
  ] satisfies ValidationPipeOptions[]
).map((options) => new ValidationPipe({ transform: true, ...options }));

/** A value as it arrives in a body or a record. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** A value as it arrives, without the names that ValidationPipe removes. */
function stripped(value: unknown): unknown {
  const copy = sent(value);
  stripProtoKeys(copy);
  return copy;
}

type Answer = { readonly content: unknown } | { readonly problems: readonly string[] };

async function answer(pipe: ValidationPipe, dto: new () => object, value: unknown) {
  try {
    const content: unknown = await pipe.transform(sent(value), { type: 'body', metatype: dto });
    return { content };
  } catch (error) {
    if (!(error instanceof BadRequestException)) throw error;
    const { message } = error.getResponse() as { message: string[] };
    return { problems: message };
  }
}

/** The answers of pipes with various options, which have to give the same verdict. */
async function answers(dto: new () => object, value: unknown): Promise<Answer[]> {
  const all = await Promise.all(PIPES.map((pipe) => answer(pipe, dto, value)));
  expect(new Set(all.map((one) => 'content' in one)).size).toBe(1);
  return all;
}

interface ResultKind {
  readonly dto: new () => object;
  readonly decode: (record: RawRecord) => unknown;
}
const RANK_CHANGE: ResultKind = { dto: RankChangeDto, decode: decodeRankChange };
const LEADER_CHANGE: ResultKind = { dto: LeaderChangeDto, decode: decodeLeaderChange };
const PERIOD_RESULT: ResultKind = { dto: PeriodResultDto, decode: decodePeriodResult };

const recordOf = (value: unknown): RawRecord => {
  return { key: null, value: Buffer.from(JSON.stringify(value)), headers: {} };
};

/**
 * The generators of results make wrong ones, too, so that most of those with an odd part would be
 * wrong anyway.
 */
function valid<T>({ decode }: ResultKind, results: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return results.filter((result) => {
    try {
      decode(recordOf(result));
      return true;
    } catch {
      return false;
    }
  });
}
const validRankChange = valid(RANK_CHANGE, rankChange);
const validLeaderChange = valid(LEADER_CHANGE, leaderChange);
const validPeriodResult = valid(PERIOD_RESULT, periodResult);

/**
 * What the pipes make of a result; nothing if they refuse it. The hot path has to give the same
 * verdict.
 */
async function contentsOf({ dto, decode }: ResultKind, value: unknown): Promise<unknown[]> {
  const all = await answers(dto, value);
  const contents = all.flatMap((one) => ('content' in one ? [one.content] : []));
  const expected = stripped(value);
  if (contents.length > 0) expect(decode(recordOf(expected))).toEqual(expected);
  else expect(() => decode(recordOf(expected))).toThrow(MalformedRecordError);
  return contents;
}

const isResult = (kind: ResultKind) => async (value: unknown) =>
  (await contentsOf(kind, value)).length > 0;
const isRankChange = isResult(RANK_CHANGE);
const isLeaderChange = isResult(LEADER_CHANGE);
const isPeriodResult = isResult(PERIOD_RESULT);

/**
 * Whether the pipes accept a result without unknown fields. If so, they have to return all of it.
 */
const isWholeResult = (kind: ResultKind) => async (value: unknown) => {
  const contents = await contentsOf(kind, value);
  for (const content of contents) expect(sent(content)).toEqual(stripped(value));
  return contents.length > 0;
};

/**
 * Whether the pipes accept a score event. The hot path has to give the same verdict, and to find
 * the same event in a DTO.
 */
async function isScoreEvent(value: unknown): Promise<boolean> {
  const decoding = decodeText(JSON.stringify(stripped(value)));
  for (const one of await answers(ScoreEventDto, value)) {
    expect('content' in one).toBe(decoding.ok);
    if ('content' in one) expect(decodeText(JSON.stringify(one.content))).toEqual(decoding);
  }
  return decoding.ok;
}

/**
 * Whether the pipes accept a player record. The hot path has to give the same verdict, and to find
 * the same fields in a DTO.
 */
async function isPlayerRecord(value: unknown): Promise<boolean> {
  const decoding = decodedBan(stripped(value));
  for (const one of await answers(PlayerRecordDto, value)) {
    expect('content' in one).toBe(decoding?.ok);
    if ('content' in one) expect(decodedBan(one.content)).toEqual(decoding);
  }
  return decoding?.ok === true;
}

function decodedBan(value: unknown) {
  const headers = { ce_type: Buffer.from(PLAYER_RECORD_TYPES.banned) };
  return decodePlayerRecord({ ...recordOf(value), headers, timestamp: 0 });
}

/** A rank change whose first `after` is not null. */
const [rightChange] = fc.sample(
  validRankChange.filter(({ changes }) => typeof changes[0]?.after?.rank === 'number'),
  { numRuns: 1, seed: 7 },
);
const [rightLeaders] = fc.sample(validLeaderChange, { numRuns: 1, seed: 7 });
const [rightPeriod] = fc.sample(validPeriodResult, { numRuns: 1, seed: 7 });

async function expectSameVerdicts(
  values: fc.Arbitrary<unknown>,
  isAccepted: (value: unknown) => Promise<boolean>,
): Promise<void> {
  const seen = { right: 0, wrong: 0 };
  const property = fc.asyncProperty(values, async (value) => {
    seen[(await isAccepted(value)) ? 'right' : 'wrong'] += 1;
  });
  await fc.assert(property, { numRuns: 400 });
  expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(20);
}

describe('DTOs in ValidationPipe and the hot path', () => {
  it('give the same verdicts on score events', () =>
    expectSameVerdicts(mutated(fc.oneof(scoreEvent, validScoreEvent)), isScoreEvent));

  it('give the same verdicts on score events with odd names', () =>
    expectSameVerdicts(withOddNames(mutated(validScoreEvent)), isScoreEvent));

  it('give the same verdicts on player records', () =>
    expectSameVerdicts(mutated(playerRecord), isPlayerRecord));

  it('give the same verdicts on rank changes', () =>
    expectSameVerdicts(mutated(validRankChange), isWholeResult(RANK_CHANGE)));

  it('give the same verdicts on rank changes with odd names', () =>
    expectSameVerdicts(withOddNames(mutated(validRankChange)), isRankChange));

  it('give the same verdicts on leader changes', () =>
    expectSameVerdicts(mutated(validLeaderChange), isWholeResult(LEADER_CHANGE)));

  it('give the same verdicts on leader changes with odd names', () =>
    expectSameVerdicts(withOddNames(mutated(validLeaderChange)), isLeaderChange));

  it('give the same verdicts on period results', () =>
    expectSameVerdicts(mutated(validPeriodResult), isWholeResult(PERIOD_RESULT)));

  it('give the same verdicts on period results with odd names', () =>
    expectSameVerdicts(withOddNames(mutated(validPeriodResult)), isPeriodResult));

  it('give the same verdicts on any JSON', async () => {
    const property = fc.asyncProperty(anyJson, async (value) => {
      await isScoreEvent(value);
      await isPlayerRecord(value);
      await isRankChange(value);
      await isLeaderChange(value);
      await isPeriodResult(value);
    });
    await fc.assert(property, { numRuns: 400 });
  });

  it('say of an invalid field of a score event what a dead letter says', async () => {
    const property = fc.asyncProperty(mutated(scoreEvent), async (value) => {
      const [first] = await answers(ScoreEventDto, value);
      const problems = first !== undefined && 'problems' in first ? first.problems : [];
      const decoding = decodeText(JSON.stringify(stripped(value)));
      const reason = decoding.ok ? undefined : /; (\w+ must be .*)$/s.exec(decoding.detail)?.[1];
      if (reason !== undefined) expect(problems).toContain(reason);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('keep all names in maps, if class-transformer is used without the pipe', () => {
    const property = fc.property(validScoreEvent, (value) => {
      const event = plainToInstance(ScoreEventDto, sent(value));
      expect(validateSync(event)).toEqual([]);
      expect(sent(event)).toEqual(sent(value));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it.each([1e21, 1e-7, 123456789012345680])(
    'refuse the number %d, which JSON.stringify writes as ranklog refuses it',
    async (delta) => {
      expect(await isScoreEvent({ board: 'arena', playerId: 'p-17', delta })).toBe(false);
      expect(await isScoreEvent({ board: 'arena', playerId: 'p-17', deltas: { delta } })).toBe(
        false,
      );
    },
  );

  it('take null for an absent field of a score event', async () => {
    const event = { board: 'arena', playerId: 'p-17', delta: 1 };
    const nulls = { deltas: null, occurredAt: null, eventId: null, attributes: null };
    expect(await isScoreEvent({ ...event, ...nulls })).toBe(true);
    for (const one of await answers(ScoreEventDto, { ...event, ...nulls }))
      expect(sent('content' in one && one.content)).toEqual(event);
  });

  it.each(['unknown', 'toString'])(
    'count the levels of the field %s, which is ignored',
    async (name) => {
      const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
      const event = { board: 'arena', playerId: 'p-17', delta: 1 };
      expect(await isScoreEvent({ ...event, [name]: nested(99) })).toBe(true);
      expect(await isScoreEvent({ ...event, [name]: nested(100) })).toBe(false);
    },
  );

  it.each([[[]], [[{}]], [null], ['text'], [1], [true]])(
    'refuse %j, which is not an object',
    async (value) => {
      expect(await isScoreEvent(value)).toBe(false);
      expect(await isRankChange(value)).toBe(false);
      expect(await isLeaderChange(value)).toBe(false);
      expect(await isPeriodResult(value)).toBe(false);
    },
  );

  it('accept a rank change, a leader change and a period result', async () => {
    expect(await isRankChange(rightChange)).toBe(true);
    expect(await isLeaderChange(rightLeaders)).toBe(true);
    expect(await isPeriodResult(rightPeriod)).toBe(true);
  });

  it.each([
    [['eventId'], null],
    [['source', 'partition'], 0.5],
    [['changes', 0, 'version'], 1.5],
    [['changes', 0, 'version'], 2 ** 53],
    [['changes', 0, 'after', 'rank'], 0],
    [['changes', 0, 'after', 'rank'], '1'],
    [['changes', 0, 'after', 'competitionRank'], 1.5],
    [['changes', 0, 'after', 'competitionRank'], null],
    [['changes', 0, 'after'], []],
    [['changes', 0, 'before'], []],
    [['changes', 0], []],
    [['changes', 0], null],
    [['changes'], {}],
    [['changes', 0, 'after', 'columns'], []],
    [['changes', 0, 'after', 'columns'], { points: 1 }],
    [['changes', 0, 'overtook'], null],
    [['changes', 0, 'overtook'], {}],
    [['changes', 0, 'overtook'], [null]],
    [['changes', 0, 'overtook'], [{ playerId: 'p-4', rankBefore: 1 }]],
    [['changes', 0, 'overtook'], [{ playerId: '', rankBefore: 1, rankAfter: 2 }]],
  ])('refuse a rank change with %j set to %j', async (path, to) => {
    const wrong = changed(rightChange, path, { to });
    expect(await isRankChange(wrong)).toBe(false);
  });

  it.each([
    [['since'], {}],
    [['since'], { to: 0 }],
    [['since'], { to: '1' }],
    [['since'], { to: [] }],
    [['version'], { to: null }],
    [['top'], {}],
    [['top'], { to: {} }],
    [['top'], { to: [null] }],
    [['top'], { to: [[]] }],
    [['top'], { to: [{ rank: 1, competitionRank: 1, columns: {} }] }],
    [['top'], { to: [{ playerId: 'p-4', rank: 1, competitionRank: 1 }] }],
    [['top'], { to: [{ playerId: 'p-4', rank: 1, columns: {} }] }],
    [['entered'], { to: [{ playerId: 'p-4', rank: 0 }] }],
    [['left'], { to: [{ playerId: 'p-4', rank: 1 }] }],
    [['moved'], { to: [{ playerId: 'p-4', rankBefore: 1 }] }],
    [['moved'], {}],
  ])('refuse a leader change with %j changed: %j', async (path, change) => {
    const wrong = changed(rightLeaders, path, change);
    expect(await isLeaderChange(wrong)).toBe(false);
  });

  it.each([
    [['revision'], { to: 0 }],
    [['revision'], {}],
    [['size'], { to: -1 }],
    [['size'], { to: null }],
    [['window'], { to: 7 }],
    [['start'], { to: '2026-11-16' }],
    [['end'], {}],
    [['results'], { to: {} }],
    [['results'], { to: [[]] }],
    [['results'], { to: [{ playerId: 'p-4', rank: 1, columns: {} }] }],
  ])('refuse a period result with %j changed: %j', async (path, change) => {
    const wrong = changed(rightPeriod, path, change);
    expect(await isPeriodResult(wrong)).toBe(false);
  });

  it.each(['before', 'after'])(
    'refuse a movement without %s, which can only be null',
    async (field) => {
      const wrong = changed(rightChange, ['changes', 0, field], {});
      expect(await isRankChange(wrong)).toBe(false);
    },
  );

  it.each(['source', 'changes'])('refuse [] for %s of a rank change', async (field) => {
    const property = fc.asyncProperty(validRankChange, async (change) => {
      const event = changed(change, [field], { to: [] });
      expect(await isRankChange(event)).toBe(false);
    });
    await fc.assert(property, { numRuns: 20 });
  });
});
