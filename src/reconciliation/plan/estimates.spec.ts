import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import type { ReconciliationStatus } from '#board-store';
import { backfill, recordsToRead } from './backfill.js';
import { changedMemory, newMemory } from './memory-estimate.js';
import { sampleFacts, type LogSample } from './sample-facts.js';
import { warningsOf } from './warnings.js';

function board(fields: string): BoardDefinition {
  const text = `boards:\n  arena: { columns: [{ name: score }], ${fields} }`;
  const [definition] = parseBoardsFile(text, 'boards.yaml');
  if (definition === undefined) throw new Error('the file has one board');
  return definition;
}
const PLAIN = board('ties: earliest');
const GUILDS = board('dimensions: [[], [guild]]');

/** Events of 25 players, two of each, the later ones without a guild. */
function sample(total = 100): LogSample {
  const events = Array.from({ length: 50 }, (_, index) => ({
    board: 'arena',
    playerId: `p-${String(index % 25).padStart(2, '0')}`,
    delta: '1',
    attributes: index < 40 ? { guild: 'red' } : {},
    timestamp: 1_700_000_000_000,
  }));
  const other = { ...events[0], board: 'other', playerId: 'x', attributes: {}, timestamp: 0 };
  return { events: [...events, other], records: 51, total, rate: 1_000 };
}
const sampled = (definition: BoardDefinition, log = sample()) => ({
  definition,
  facts: sampleFacts(definition, log),
});
const ended = (facts: Partial<ReconciliationStatus>): ReconciliationStatus => ({
  board: 'arena',
  kind: 'build',
  state: 'done',
  generation: 'g',
  holder: 'host:1',
  done: 50_000,
  total: 50_000,
  rate: 0,
  secondsLeft: null,
  startedAt: 1_000,
  updatedAt: 6_000,
  ...facts,
});

describe('sampleFacts', () => {
  it('counts a player once in a view, and events that the board can not take by reason', () => {
    expect(sampleFacts(PLAIN, sample())).toEqual({
      events: 50,
      placings: 25,
      idBytes: 4,
      hasLists: false,
      rejected: new Map(),
    });
    expect(sampleFacts(GUILDS, sample())).toEqual({
      events: 40,
      placings: 50,
      idBytes: 4,
      hasLists: false,
      rejected: new Map([['MISSING_DIMENSION', 10]]),
    });
  });
});

describe('memory', () => {
  const measured = { bytes: 1_000_000, placings: 5_000 };

  it('of a changed board with the same views is that of the live one, by its columns', () => {
    const latest = changedMemory(measured, sampled(PLAIN), sampled(board('ties: latest')));
    expect(latest).toEqual({
      bytes: 1_000_000,
      certainty: 'about',
      basis: 'measured on the live generation',
    });
    const wider = { ...PLAIN, columns: [...PLAIN.columns, ...PLAIN.columns] };
    expect(changedMemory(measured, sampled(PLAIN), sampled(wider)).bytes).toBe(1_155_000);
  });

  it('of a changed board with other views goes by the places that a sample makes', () => {
    expect(changedMemory(measured, sampled(PLAIN), sampled(GUILDS))).toEqual({
      bytes: 2_000_000,
      certainty: 'about',
      basis: 'the live generation, with 2.00 times as many places in a sample of the log',
    });
  });

  it('of a changed board with other views is unknown when the sample has hardly any of its events', () => {
    const few = { ...sample(), events: sample().events.slice(0, 10) };
    expect(changedMemory(measured, sampled(PLAIN, few), sampled(GUILDS, few))).toMatchObject({
      bytes: null,
      certainty: 'unknown',
    });
  });

  it('of a new board is at most what its share of the log makes; about that when all of it was looked at', () => {
    expect(newMemory(sampled(PLAIN), sample(51_000))).toMatchObject({
      bytes: 5_000_000,
      certainty: 'at most',
    });
    expect(newMemory(sampled(PLAIN), sample(51))).toMatchObject({
      bytes: 5_000,
      certainty: 'about',
    });
  });

  it('of a new board without events in the sample is unknown, unless there are none at all', () => {
    const other = { ...PLAIN, board: 'nobody' };
    expect(newMemory(sampled(other), sample())).toMatchObject({ bytes: null });
    expect(newMemory(sampled(other), sample(51))).toMatchObject({ bytes: 0, certainty: 'about' });
  });
});

describe('backfill', () => {
  const ranges = new Map([
    [0, { start: 0, end: 2_000 }],
    [1, { start: 100, end: 1_100 }],
    [2, { start: 0, end: 50 }],
  ]);
  const watermarks = new Map([
    [0, 999],
    [1, 599],
  ]);

  it('reads each partition from where its log begins up to what is live', () => {
    expect(recordsToRead({ ranges, watermarks })).toBe(1_500);
    expect(recordsToRead({ ranges, watermarks, from: new Map([[0, 900]]) })).toBe(600);
  });

  it('takes as long as the last build that ended well let it take', () => {
    const statuses = [
      ended({ updatedAt: 2_000 }),
      ended({}),
      ended({ state: 'failed', updatedAt: 9_000 }),
      ended({ kind: 'verify', updatedAt: 9_000 }),
      ended({ startedAt: 8_999, updatedAt: 9_000 }),
    ];
    expect(backfill(25_000, { statuses, sampleRate: 1 })).toEqual({
      records: 25_000,
      seconds: 3,
      rate: 10_000,
      basis: 'last build',
    });
  });

  it('goes by a sample where there was no build, by the throttle where that is less, and says when nothing tells', () => {
    const without = { statuses: [], sampleRate: 5_000 };
    expect(backfill(10_000, without)).toMatchObject({ seconds: 2, basis: 'sample' });
    expect(backfill(10_000, { ...without, throttle: 100 })).toMatchObject({
      seconds: 100,
      rate: 100,
      basis: 'throttle',
    });
    expect(backfill(10, { statuses: [], sampleRate: null })).toEqual({
      records: 10,
      seconds: null,
      rate: null,
      basis: null,
    });
  });
});

describe('warnings', () => {
  const warnings = (definition: BoardDefinition, live?: BoardDefinition) =>
    warningsOf(definition, {
      fields: [],
      next: sampleFacts(definition, sample()),
      live: live && sampleFacts(live, sample()),
    });

  it('tell that a board is built although only what is published changes', () => {
    const fields = [{ field: 'publish.leaders', before: '0', after: '10' }];
    expect(warningsOf(PLAIN, { fields, next: sampleFacts(PLAIN, sample()) })).toEqual([
      expect.stringContaining('only what is published changes'),
    ]);
  });

  it('tell of events that would be left out, without those that are left out already', () => {
    expect(warnings(GUILDS, PLAIN)).toEqual([
      '10 of 50 sampled events of the board would be left out: MISSING_DIMENSION',
    ]);
    expect(warnings(GUILDS, GUILDS)).toEqual([]);
  });

  it('tell of events that may move more views than an event may', () => {
    const seasons = Array.from({ length: 130 }, (_, index) => {
      const season = { kind: 'season', name: `s${index}`, from: 0, to: 1 } as const;
      return season;
    });
    expect(warnings({ ...GUILDS, windows: seasons }, GUILDS)).toEqual([
      expect.stringContaining('may move up to 260 views'),
    ]);
    const ten = { ...GUILDS, windows: seasons.slice(0, 10) };
    expect(warnings(ten, GUILDS)).toEqual([]);
    const withLists = (definition: BoardDefinition) => {
      const next = { ...sampleFacts(definition, sample()), hasLists: true };
      return warningsOf(definition, { fields: [], next, live: next });
    };
    expect(withLists(ten)).toEqual([
      expect.stringContaining('an event with lists of 25 values in its attributes may move 260'),
    ]);
    expect(withLists({ ...GUILDS, windows: seasons.slice(0, 3) })).toEqual([]);
  });

  it('look for lists in the dimensions of the board alone', () => {
    const [event] = sample().events;
    const given = (attributes: Record<string, string | string[]>) =>
      event && sampleFacts(GUILDS, { ...sample(), events: [{ ...event, attributes }] }).hasLists;
    expect(given({ guild: ['red', 'blue'] })).toBe(true);
    expect(given({ guild: 'red', tags: ['a', 'b'] })).toBe(false);
  });
});
