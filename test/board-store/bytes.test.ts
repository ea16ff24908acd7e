import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import type { Verdict } from '#board-store';
import type { RankMovement } from '#contracts';
import { ByteReader, ByteWriter } from '../../libs/board-store/layout/bytes.js';
import { arena, changesOf, lasting, scored, StoreFixture, verdictsOf } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** Reads values by the formats of ARGV[1] from ARGV[2], and writes them again. */
const REPEAT = `
  local found, at = {}, 1
  for kind in string.gmatch(ARGV[1], '.') do
    local value
    value, at = struct.unpack(kind == 't' and '>I4c0' or '>' .. kind, ARGV[2], at)
    found[#found + 1] = kind == 't' and struct.pack('>I4c0', #value, value) or struct.pack('>' .. kind, value)
  end
  return table.concat(found)`;

describe('the bytes between node and Lua', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const longText = text.map((one) => one.repeat(3_000));
  const parts = fc.array(
    fc.oneof(
      fc.tuple(fc.constant('d' as const), fc.oneof(fc.double(), fc.maxSafeInteger())),
      fc.tuple(fc.constant('H' as const), fc.nat(65_535)),
      fc.tuple(fc.constant('t' as const), fc.oneof(text, longText)),
    ),
    { maxLength: 30 },
  );
  const writer = new ByteWriter();

  it('are the same for both, whatever the numbers and texts', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (given) => {
        writer.clear();
        for (const [kind, value] of given)
          if (kind === 'd') writer.double(value);
          else if (kind === 'H') writer.uint16(value);
          else writer.text(value);
        const kinds = given.map(([kind]) => kind);
        const repeated = await redis.callBuffer('EVAL', REPEAT, 0, kinds.join(''), writer.copy());
        const reader = new ByteReader(repeated as Buffer);
        const read = kinds.map((kind) =>
          kind === 'd' ? reader.double() : kind === 'H' ? reader.uint16() : reader.text(),
        );
        expect(read).toEqual(given.map(([, value]) => value));
        expect(reader.isAtEnd).toBe(true);
      }),
    );
  });
});

/** An id of 128 bytes, in characters of 4 bytes. */
const longId = (index: number) => String.fromCodePoint(0x1f600 + index).repeat(32);
const rich: BoardDefinition = {
  ...arena,
  columns: [...arena.columns, { name: 'wins', update: 'sum', order: 'asc', decimals: 2 }],
  deduplicateMs: 60_000,
  publish: { ...arena.publish, overtook: 100, leaders: 100 },
};

let fixture: StoreFixture;
const register = async (definition: BoardDefinition) => {
  fixture = await new StoreFixture(redis, newKeys()).register(definition);
};

describe('an apply call passes on', () => {
  beforeEach(() => register(rich));

  it('the longest ids, and as many overtaken players and leaders as a board publishes', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => longId(index));
    const events = [...ids, ids[100]!].map((playerId, index) =>
      scored(playerId, [101 - index], { values: [index - 101, 5], eventId: longId(index) }),
    );
    events[101] = { ...events[101]!, values: [-1_000, null] };
    const verdicts = await fixture.apply(events);
    const [change, leaders] = verdicts.filter(({ offset }) => offset === 101);
    if (change?.kind !== 'rankChange' || leaders?.kind !== 'leaderChange')
      throw new Error('the last event has no rank change, or no leader change after it');
    expect(changesOf(change)).toMatchObject([
      {
        before: { rank: 101, competitionRank: 101, columns: { points: '1', wins: '0.05' } },
        after: { rank: 1, competitionRank: 1, columns: { points: '1001', wins: '0.05' } },
        overtook: ids.slice(0, 100).map((playerId, index) => {
          return { playerId, rankBefore: index + 1, rankAfter: index + 2 };
        }),
      },
    ]);
    const [{ after, ...movement }] = changesOf(change) as [RankMovement];
    expect(Object.keys(movement)).toEqual(['view', 'version', 'before', 'overtook']);
    expect(Object.keys(after!)).toEqual(['rank', 'competitionRank', 'columns']);
    const top = [ids[100], ...ids.slice(0, 99)];
    expect(leaders.top.map(({ playerId }) => playerId)).toEqual(top);
    expect(await fixture.apply(events)).toEqual(verdicts); // from the outbox
  });

  it('256 views of an event, and a view with a long text', async () => {
    const texts = Array.from({ length: 255 }, (_, index) => `all x=${index}`);
    const views = lasting(...texts, `all y=${'%F0'.repeat(30_000)}`);
    const [change] = await fixture.apply([scored('a', [1], { values: [-1, 0], views })]);
    if (change?.kind !== 'rankChange') throw new Error('the event has no rank change');
    expect(changesOf(change).map(({ view }) => view)).toEqual(views.map(({ view }) => view));
  });

  it('a detail of 1,024 bytes, and an event that lacks every value', async () => {
    const detail = '\u{1F600}\0\n\u001e'.repeat(146).padEnd(732, '"'); // 1,024 bytes
    const letter = { kind: 'deadLetter', offset: 0, code: 'INVALID_JSON', detail } as const;
    const event = scored('a', [], { values: [null, null] });
    const entries = [letter, { kind: 'event', offset: 1, board: 'arena', event } as const];
    const call = fixture.call([], { entries, through: 1 });
    const [first, second] = verdictsOf(await fixture.store.apply(call));
    expect([first, Buffer.byteLength(detail)]).toEqual([letter, 1_024]);
    if (second?.kind !== 'rankChange') throw new Error('the event has no rank change');
    expect(changesOf(second)).toMatchObject([
      { before: null, after: { rank: 1, columns: { points: '0', wins: '0.00' } } },
    ]);
  });
});

describe('an apply call on a run whose verdicts are partly published', () => {
  const leads = [1, 2, 3].map((points) => scored(`p${points}`, [points]));
  leads[0] = { ...leads[0]!, views: lasting('all', 'all x=1') };

  /**
   * Two calls in the outbox, of three events each: the first event moves two views, the others one
   * of them.
   */
  beforeEach(async () => {
    await register({ ...arena, publish: { ...arena.publish, leaders: 1 } });
    await fixture.apply(leads);
    await fixture.apply(leads, { from: 3 });
  });

  it.each([
    [
      { published: 0, from: 0, through: 5 },
      ['0', '0 top', '1', '2', '2 top', '3', '3 top', '4', '5', '5 top'],
    ],
    [{ published: 1, from: 0, through: 5 }, ['1', '2', '2 top', '3', '3 top', '4', '5', '5 top']],
    [{ published: 4, from: 0, through: 5 }, ['4', '5', '5 top']],
    [{ published: 0, from: 1, through: 4 }, ['1', '2', '2 top', '3', '3 top', '4']],
    [{ published: 1, from: 4, through: 4 }, ['4']],
    [{ published: 6, from: 0, through: 5 }, []],
  ])('returns those of the run that are not published, for %j', async (run, expected) => {
    expect(await fixture.store.hasUnpublished(0, 6)).toBe(true);
    const verdicts = verdictsOf(await fixture.store.apply({ ...fixture.call([]), ...run }));
    const name = ({ kind, offset }: Verdict) =>
      kind === 'leaderChange' ? `${offset} top` : String(offset);
    expect(verdicts.map(name)).toEqual(expected);
    expect(await fixture.store.hasUnpublished(0, run.published)).toBe(false);
    expect(await fixture.store.hasUnpublished(0, 6)).toBe(run.published < 6);
  });
});
