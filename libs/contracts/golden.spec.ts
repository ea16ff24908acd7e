import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { decodeDeadLetter, encodeDeadLetter, type DeadLetterReason } from './dead-letter.js';
import { decodeScoreEvent, decodeText } from './decode-score-event.js';
import {
  decodeDefinitionRecord,
  encodeDefinitionRecord,
  type DefinitionRecord,
} from './definition-record.js';
import {
  decodeLeaderChange,
  encodeLeaderChange,
  leaderMovements,
  type LeaderChange,
} from './leader-change.js';
import { decodePeriodResult, encodePeriodResult, type PeriodResult } from './period-result.js';
import {
  decodePlayerRecord,
  encodePlayerRecord,
  playerRecordProblem,
  type PlayerRecord,
  type PlayerRecordKind,
} from './player-record.js';
import { decodeRankChange, encodeRankChange, type RankChange } from './rank-change.js';
import { topicNames, type RawRecord, type Source } from './record.js';

/** Other services rely on these bytes: a change here breaks them. */
interface Golden {
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly value: string;
}

interface DeadLetterGolden {
  readonly record: Golden & { readonly timestamp: number };
  readonly source: Source;
  readonly reason: DeadLetterReason;
  readonly headers: object;
  readonly decoded: object;
}

interface PlayerRecordGolden extends Golden {
  readonly kind: PlayerRecordKind;
  readonly playerRecord: PlayerRecord;
  readonly cause: Parameters<typeof encodePlayerRecord>[2];
}

interface PlainCurrent extends Omit<DefinitionRecord, 'starts'> {
  readonly starts?: Record<string, number>;
}

const toStarts = (starts: Record<string, number>) =>
  new Map(Object.entries(starts).map(([partition, from]) => [Number(partition), from]));

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const golden = (name: string): unknown => JSON.parse(read(`test/contracts/golden/${name}.json`));

const toRecord = ({ key, headers, value }: Golden) => ({
  key: Buffer.from(key),
  value: Buffer.from(value),
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]),
  ),
});

const withTexts = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

describe('the golden records', () => {
  it.each(['score-event', 'score-event-lists'])(
    'include the %s, which is decoded to the same event',
    (name) => {
      const file = golden(name) as Golden & { decoded: object };
      expect(decodeScoreEvent(toRecord(file))).toEqual({ ok: true, event: file.decoded });
    },
  );

  it.each(['player-banned', 'player-unbanned', 'player-erased'])(
    'include the %s, which is encoded to the same bytes and decoded',
    (name) => {
      const { kind, playerRecord, cause, ...record } = golden(name) as PlayerRecordGolden;
      expect(encodePlayerRecord(kind, playerRecord, cause)).toEqual(record);
      const decoded = { kind, ...playerRecord, occurredAt: cause.time };
      const timestamp = cause.time + 5;
      expect(decodePlayerRecord({ ...toRecord(record), timestamp })).toEqual({
        ok: true,
        playerRecord: decoded,
      });
    },
  );

  it.each(['rank-change', 'rank-change-overtook', 'rank-change-left'])(
    'include the %s, which is encoded to the same bytes and decoded',
    (name) => {
      const { change, ...record } = golden(name) as Golden & { change: RankChange };
      expect(encodeRankChange(change, JSON.stringify(change.changes))).toEqual(record);
      expect(decodeRankChange(toRecord(record))).toEqual(change);
    },
  );

  it.each(['leader-change-first', 'leader-change'])(
    'include the %s, which is encoded to the same bytes and decoded',
    (name) => {
      const { change, ...record } = golden(name) as Golden & { change: LeaderChange };
      expect(encodeLeaderChange(change)).toEqual(record);
      expect(decodeLeaderChange(toRecord(record))).toEqual(change);
    },
  );

  it.each(['period-result', 'period-result-again'])(
    'include the %s, which is encoded to the same bytes and decoded',
    (name) => {
      const { change, ...record } = golden(name) as Golden & { change: PeriodResult };
      expect(encodePeriodResult(change, 'ranklog.score-events')).toEqual(record);
      expect(decodePeriodResult(toRecord(record))).toEqual(change);
    },
  );

  it.each(['definition-record', 'definition-record-removed'])(
    'include the %s, which is encoded to the same bytes and decoded',
    (name) => {
      const { current: fields, ...record } = golden(name) as Golden & { current: PlainCurrent };
      const { starts, ...plain } = fields;
      const current = { ...plain, ...(starts && { starts: toStarts(starts) }) };
      expect(encodeDefinitionRecord(current, 'ranklog.definitions')).toEqual(record);
      expect(decodeDefinitionRecord(toRecord(record))).toEqual(current);
    },
  );

  it('include leader changes that follow from one another', () => {
    const [first, next] = ['leader-change-first', 'leader-change'].map(
      (name) => (golden(name) as { change: LeaderChange }).change,
    );
    if (first === undefined || next === undefined) throw new Error('a golden file is empty');
    expect(next.since).toBe(first.version);
    expect(first).toMatchObject(leaderMovements([], first.top));
    expect(next).toMatchObject(
      leaderMovements(
        first.top.map(({ playerId }) => playerId),
        next.top,
      ),
    );
  });

  it.each(['dead-letter', 'dead-letter-unknown-type'])(
    'include the %s, with the record as it was and the reason in headers',
    (name) => {
      const file = golden(name) as Pick<DeadLetterGolden, 'record' | 'source' | 'headers'>;
      const record = toRecord(file.record);
      const { timestamp } = file.record;
      const decoded = decodeScoreEvent(record);
      if (decoded.ok) throw new Error(`the record of ${name} is a score event`);
      const letter = encodeDeadLetter(file.source, { ...record, timestamp }, decoded);
      expect(letter).toMatchObject({ key: record.key, value: record.value });
      expect(withTexts(letter.headers)).toEqual(file.headers);
    },
  );

  it('include the dead letter of a record that is too large, with its offset, size and digest', () => {
    const file = golden('dead-letter-digest') as DeadLetterGolden & { maxBytes: number };
    const record = toRecord(file.record);
    const { timestamp } = file.record;
    const letter = encodeDeadLetter(
      file.source,
      { ...record, timestamp },
      file.reason,
      file.maxBytes,
    );
    expect(letter).toMatchObject({ key: record.key, value: null });
    expect(withTexts(letter.headers)).toEqual(file.headers);
    expect(decodeDeadLetter(letter)).toEqual({
      ...file.source,
      timestamp,
      ...file.reason,
      ...file.decoded,
    });
  });

  it('have topic names with a prefix', () => {
    expect(topicNames('ranklog')).toEqual({
      scoreEvents: 'ranklog.score-events',
      rankChanges: 'ranklog.rank-changes',
      leaderChanges: 'ranklog.leader-changes',
      periodResults: 'ranklog.period-results',
      definitions: 'ranklog.definitions',
      deadLetters: 'ranklog.dead-letters',
    });
  });
});

describe('the fields of results, as docs/versioning.md promises them', () => {
  const results: [name: string, decode: (record: RawRecord) => object][] = [
    ['rank-change', decodeRankChange],
    ['rank-change-overtook', decodeRankChange],
    ['rank-change-left', decodeRankChange],
    ['leader-change', decodeLeaderChange],
    ['period-result', decodePeriodResult],
  ];
  const optional: Record<string, string[]> = {
    'rank-change': ['eventId'],
    'rank-change-overtook': ['overtook', 'competitionRank'],
  };

  /** Each object within a value, except `columns`: the board chooses the names in it. */
  const objectsIn = (value: unknown): Record<string, unknown>[] =>
    typeof value !== 'object' || value === null
      ? []
      : [
          ...(Array.isArray(value) ? [] : [value as Record<string, unknown>]),
          ...Object.entries(value).flatMap(([name, part]) =>
            name === 'columns' ? [] : objectsIn(part),
          ),
        ];

  it.each(results)('can be added: %s is read with unknown fields in every object', (...args) => {
    const [name, decode] = args;
    const { change } = golden(name) as { change: object };
    for (const part of objectsIn(change)) part['added'] = { later: true };
    const value = Buffer.from(JSON.stringify(change));
    expect(decode({ key: null, value, headers: {} })).toEqual(change);
  });

  it.each(results)('are never removed; only before, after and since can be null: %s', (...args) => {
    const [name, decode] = args;
    const { change } = golden(name) as { change: object };
    for (const part of objectsIn(change))
      for (const [field, was] of Object.entries(part)) {
        const mayBe = (to: unknown) => {
          part[field] = to;
          const value = Buffer.from(JSON.stringify(change));
          part[field] = was;
          try {
            decode({ key: null, value, headers: {} });
            return true;
          } catch {
            return false;
          }
        };
        expect([field, mayBe(undefined)]).toEqual([
          field,
          optional[name]?.includes(field) ?? false,
        ]);
        expect([field, mayBe(null)]).toEqual([field, ['before', 'after', 'since'].includes(field)]);
      }
  });
});

describe('the examples of docs/reference/events.md', () => {
  const examples = [...read('docs/reference/events.md').matchAll(/^```json\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  const isRankChange = (text: string) => text.includes('"changes"');
  const isLeaderChange = (text: string) => text.includes('"top"');
  const isPeriodResult = (text: string) => text.includes('"revision"');
  const isCurrent = (text: string) => text.includes('"definition"');
  const isPlayerRecord = (text: string) => text.includes('"reason"');
  const isEvent = (text: string) =>
    ![isRankChange, isLeaderChange, isPeriodResult, isCurrent, isPlayerRecord].some((is) =>
      is(text),
    );

  it('are valid score events', () => {
    const events = examples.filter(isEvent);
    expect(events.length).toBeGreaterThan(0);
    for (const text of events) expect(decodeText(text)).toMatchObject({ ok: true });
  });

  it('are valid player records', () => {
    const records = examples.filter(isPlayerRecord);
    expect(records.length).toBeGreaterThan(0);
    for (const text of records) expect(playerRecordProblem(JSON.parse(text))).toBeUndefined();
  });

  it('are valid definition records', () => {
    const current = examples.filter(isCurrent);
    expect(current.length).toBeGreaterThan(0);
    for (const text of current) {
      const record = { key: Buffer.from('arena'), value: Buffer.from(text), headers: {} };
      expect(decodeDefinitionRecord(record)).toMatchObject({ definition: { board: 'arena' } });
    }
  });

  it('are valid rank changes', () => {
    const changes = examples.filter(isRankChange);
    expect(changes.length).toBeGreaterThan(0);
    for (const text of changes)
      expect(
        decodeRankChange({ key: null, value: Buffer.from(text), headers: {} }).changes.length,
      ).toBeGreaterThan(0);
  });

  it('are valid period results', () => {
    const results = examples.filter(isPeriodResult);
    expect(results.length).toBeGreaterThan(0);
    for (const text of results) {
      const record = { key: null, value: Buffer.from(text), headers: {} };
      expect(decodePeriodResult(record).results.length).toBeGreaterThan(0);
    }
  });

  it('are valid leader changes with consistent movements', () => {
    const changes = examples.filter(isLeaderChange);
    expect(changes.length).toBeGreaterThan(0);
    for (const text of changes) {
      const record = { key: null, value: Buffer.from(text), headers: {} };
      const { top, entered, left, moved } = decodeLeaderChange(record);
      const gone = [...left, ...moved].map(({ playerId, rankBefore }) => [rankBefore, playerId]);
      const stayed = top.filter((leader) =>
        [...entered, ...moved].every(({ playerId }) => playerId !== leader.playerId),
      );
      const before = [...gone, ...stayed.map(({ playerId, rank }) => [rank, playerId])];
      before.sort(([a], [b]) => Number(a) - Number(b));
      const ids = before.map(([, playerId]) => String(playerId));
      expect(leaderMovements(ids, top)).toEqual({ entered, left, moved });
    }
  });
});
