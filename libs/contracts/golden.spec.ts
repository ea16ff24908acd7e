import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { encodeDeadLetter, type Source } from './dead-letter.js';
import { decodeScoreEvent, decodeText } from './decode-score-event.js';
import { decodeRankChange, encodeRankChange, type RankChange } from './rank-change.js';
import { topicNames } from './topics.js';

/** What a service on the other side of a topic relies on: a change here breaks someone. */
interface Golden {
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly value: string;
}

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
  it('hold the score event: read as the same event', () => {
    const file = golden('score-event') as Golden & { decoded: object };
    expect(decodeScoreEvent(toRecord(file))).toEqual({ ok: true, event: file.decoded });
  });

  it('hold the rank change: written as the same bytes, and read back', () => {
    const { change, ...record } = golden('rank-change') as Golden & {
      change: RankChange;
    };
    expect(encodeRankChange(change)).toEqual(record);
    expect(decodeRankChange(toRecord(record))).toEqual(change);
  });

  it('hold the dead letter: the record as it was, and the headers that say why', () => {
    const file = golden('dead-letter') as { record: Golden; source: Source; headers: object };
    const record = toRecord(file.record);
    const decoded = decodeScoreEvent(record);
    if (decoded.ok) throw new Error('the record of the golden dead letter is a score event');
    const letter = encodeDeadLetter(file.source, record, decoded.code, decoded.detail);
    expect(letter).toMatchObject({ key: record.key, value: record.value });
    expect(withTexts(letter.headers)).toEqual(file.headers);
  });

  it('go to topics named by a prefix', () => {
    expect(topicNames('ranklog')).toEqual({
      scoreEvents: 'ranklog.score-events',
      rankChanges: 'ranklog.rank-changes',
      leaderChanges: 'ranklog.leader-changes',
      definitions: 'ranklog.definitions',
      deadLetters: 'ranklog.dead-letters',
    });
  });
});

describe('the examples of docs/reference/events.md', () => {
  const examples = [...read('docs/reference/events.md').matchAll(/^```json\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  );
  const isResult = (text: string) => text.includes('"changes"');

  it('are score events that are taken', () => {
    const events = examples.filter((text) => !isResult(text));
    expect(events.length).toBeGreaterThan(0);
    for (const text of events) expect(decodeText(text)).toMatchObject({ ok: true });
  });

  it('are rank changes that are read', () => {
    const changes = examples.filter(isResult);
    expect(changes.length).toBeGreaterThan(0);
    for (const text of changes)
      expect(
        decodeRankChange({ key: null, value: Buffer.from(text), headers: {} }).changes.length,
      ).toBeGreaterThan(0);
  });
});
