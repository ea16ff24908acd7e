import { afterAll, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import { arena, StoreFixture } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { Oracle } from './oracle.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** A view ends at 100, the clock's unit being the ms; ids count within 50. */
const board: BoardDefinition = {
  ...arena,
  windows: [{ kind: 'all' }, { kind: 'season', name: 's', from: 0, to: 90, keepMs: 10 }],
  dimensions: [['x']],
  maxViews: 2,
  deduplicateMs: 50,
};

const LARGEST = Number.MAX_SAFE_INTEGER;
const all = (x: string) => ({ view: `all x=${x}`, expiresAt: null, published: true });
const season = (x: string) => ({ view: `season:s x=${x}`, expiresAt: 100, published: true });

function event(occurredAt: number, fields: Partial<ResolvedEvent>): ResolvedEvent {
  return { playerId: 'a', occurredAt, values: [-1], views: [all('1')], ...fields };
}

interface Case {
  readonly what: string;
  readonly events: readonly ResolvedEvent[];
  /** Code of the last event's dead letter. */
  readonly code?: string;
  readonly facts: { readonly clock: number; readonly expired: number; readonly duplicates: number };
}

const cases: readonly Case[] = [
  {
    what: 'a duplicate moves the clock',
    events: [
      event(80, { eventId: 'x' }),
      event(120, { eventId: 'x' }),
      event(90, { views: [season('1')] }),
    ],
    code: 'WINDOW_EXPIRED',
    facts: { clock: 120, expired: 1, duplicates: 1 },
  },
  {
    what: 'a duplicate is not late',
    events: [event(120, { eventId: 'x' }), event(90, { eventId: 'x', views: [season('1')] })],
    facts: { clock: 120, expired: 0, duplicates: 1 },
  },
  {
    what: 'a late event is remembered, and what follows is a duplicate',
    events: [
      event(120, {}),
      event(90, { eventId: 'x', views: [season('1')] }),
      event(110, { eventId: 'x' }),
    ],
    facts: { clock: 120, expired: 1, duplicates: 1 },
  },
  {
    what: 'an event ends its own view',
    events: [event(100, { views: [season('1')] })],
    code: 'WINDOW_EXPIRED',
    facts: { clock: 100, expired: 1, duplicates: 0 },
  },
  {
    what: 'views that have expired are not among those that are too many',
    events: [event(90, { views: [season('1'), all('1')] }), event(120, { views: [all('2')] })],
    facts: { clock: 120, expired: 0, duplicates: 0 },
  },
  {
    what: 'a late event may make too many views all the same, and is counted',
    events: [
      event(120, { views: [all('1'), all('2')] }),
      event(90, { views: [season('1'), all('3')] }),
    ],
    code: 'TOO_MANY_VIEWS',
    facts: { clock: 120, expired: 1, duplicates: 0 },
  },
  {
    what: 'too many views come before a sum out of range',
    events: [
      event(1, { values: [LARGEST], views: [all('1'), all('2')] }),
      event(1, { values: [1], views: [all('1'), all('3')] }),
    ],
    code: 'TOO_MANY_VIEWS',
    facts: { clock: 1, expired: 0, duplicates: 0 },
  },
  {
    what: 'a sum out of range in a view that has expired stops nothing',
    events: [
      event(90, { values: [LARGEST], views: [season('1')] }),
      event(120, {}),
      event(90, { values: [1], views: [season('1'), all('1')] }),
    ],
    facts: { clock: 120, expired: 1, duplicates: 0 },
  },
];

describe('an event that could be refused for two reasons:', () => {
  it.each(cases)('$what', async ({ events, code, facts }) => {
    const oracle = new Oracle([board]);
    const outcomes = events.map((one) => oracle.apply('arena', one));
    const last = outcomes.at(-1)!.verdict;
    expect(last?.kind === 'deadLetter' ? last.code : undefined).toBe(code);
    expect(oracle.memory('arena')).toMatchObject(facts);
    const fixture = await new StoreFixture(redis, newKeys()).register(board);
    const verdicts = await fixture.apply(events);
    expect(verdicts.map(({ kind, offset }) => ({ kind, offset }))).toEqual(
      outcomes.flatMap(({ verdict }, offset) =>
        verdict === undefined ? [] : [{ kind: verdict.kind, offset }],
      ),
    );
    const found = verdicts.filter(({ offset }) => offset === events.length - 1)[0];
    expect(found?.kind === 'deadLetter' ? found.code : undefined).toBe(code);
    expect(await fixture.store.facts(fixture.live)).toEqual(facts);
  });
});
