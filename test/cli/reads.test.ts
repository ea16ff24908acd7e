import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decimalColumns, formatTime, reachTime, sortDirection } from '#board';
import { KeySpace, type ViewSummary } from '#board-store';
import { partitionOf } from '#kafka-batch';
import type { HistoryEntry } from '../../src/cli/sessions/player-history.js';
import { updatedState, type OracleState } from '../model/oracle-update.js';
import { TestInstance, until } from '../support/instance.js';
import { letProducersDate } from '../support/kafka-client.js';
import { seededRandom } from '../support/seeded-random.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }], windows: [all, day] }
  empty: { columns: [{ name: points }] }
  many: { columns: [{ name: points }], dimensions: [[region]], maxViews: 20000 }
  mixed:
    columns: [{ name: wins }, { name: best, update: best, order: asc }, { name: last, update: latest }]
    windows: [all, day]
    dimensions: [[], [region]]
    deduplicate: 1h
`;
const arena = (playerId: string, delta: number | string, occurredAt: string) =>
  JSON.stringify({ board: 'arena', playerId, delta, occurredAt: `2026-01-01T${occurredAt}Z` });

let instance: TestInstance;
let sent = 0;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: 2 });
  await instance.start();
  await send([
    arena('ada', 10, '09:00:02'),
    arena('bob', 10, '09:00:01'),
    arena('cyd', 5, '09:00:03'),
    arena('dan', 3, '09:00:03'),
    arena('eve', 3, '09:00:03'),
  ]);
});
afterAll(() => instance.remove());

/** Sends events; resolves when they are published. */
async function send(lines: readonly string[]): Promise<void> {
  await instance.produce(lines);
  sent += lines.length;
  await instance.published(sent);
}

async function ranklog(...args: string[]) {
  const child = instance.spawn(...args);
  return { code: await child.ended, out: child.output, err: child.errors };
}
const json = async (...args: string[]) =>
  JSON.parse((await ranklog(...args, '--json')).out) as Record<string, unknown>;

describe('standings', () => {
  it('begins with a rank, or after a page, up to the last player', async () => {
    const { next, ...second } = await json('standings', 'arena', '--from', '2', '--top', '2');
    expect(second).toMatchObject({ entries: [{ playerId: 'ada', rank: 2 }, { playerId: 'cyd' }] });
    const rest = await json('standings', 'arena', '--after', String(next), '--all');
    expect(rest).toMatchObject({
      view: 'all',
      entries: [
        { playerId: 'dan', rank: 4 },
        { playerId: 'eve', rank: 5 },
      ],
    });
    expect(rest).not.toHaveProperty('next');
    const end = await ranklog('standings', 'arena', '--from', '5', '--window', 'all');
    expect(end.out).toBe(
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   5  eve          3  2026-01-01T09:00:03.000Z',
        '1 of 5 players',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [['standings', 'arena', '--after', 'x'], 2, '"x" is not a cursor'],
    [['standings', 'arena', '--after', 'x', '--from', '2'], 2, 'cannot be used with option'],
    [['top', 'arena', '--live', '--from', '2'], 2, 'cannot be used with option'],
    [['top', 'arana', '--live'], 1, 'did you mean arena?'],
    [['around', 'arena', 'nobody'], 1, ''],
    [['around', 'arena', 'ada', '--above', '-1'], 2, 'is not a whole number from 0 to 1000'],
    [['around', 'arena', 'ada', '--above', '1000'], 2, 'is not a whole number from 1 to 1000'],
    [['standings', 'arena', '--after', 'x', '--window', 'all'], 2, 'cannot be used with option'],
    [['watch', 'arana'], 1, 'did you mean arena?'],
    [
      ['rank', 'arena', '-Dash-'],
      2,
      `'-Dash-'; if it is an id and not an option, write "--" before`,
    ],
  ])('%j ends with exit code %i and a helpful word', async (args, exitCode, word) => {
    const { code, err } = await ranklog(...args);
    expect([code, err]).toEqual([exitCode, expect.stringContaining(word)]);
  });
});

describe('around', () => {
  it('shows a page that stays full, and marks the player', async () => {
    const { code, out } = await ranklog('around', 'arena', 'bob', '--above', '1', '--below', '1');
    expect([code, out]).toEqual([
      0,
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   1  bob <-      10  2026-01-01T09:00:01.000Z',
        '   2  ada         10  2026-01-01T09:00:02.000Z',
        '   3  cyd          5  2026-01-01T09:00:03.000Z',
        '',
      ].join('\n'),
    ]);
    const answer = await json('around', 'arena', 'dan', '--above', '0', '--below', '1');
    expect(answer).toEqual({
      playerId: 'dan',
      board: 'arena',
      view: 'all',
      stale: false,
      size: 5,
      entries: [
        expect.objectContaining({ playerId: 'dan', rank: 4 }),
        expect.objectContaining({ playerId: 'eve', rank: 5 }),
      ],
    });
  });
});

describe('top --live', () => {
  it('shows the view again after an event, and ends with 0 at Ctrl-C', async () => {
    const table = instance.spawn('top', 'arena', '--live', '--top', '2');
    await until(() => table.output.includes('5 players'), 'the view');
    await send([arena('cyd', 20, '09:00:04')]);
    await until(() => table.output.includes('2  bob'), 'the table has the change');
    table.kill('SIGINT');
    expect([await table.ended, table.errors]).toEqual([0, '']);
    expect(table.output.replaceAll(/at 2.*Z/g, 'at TIME')).toBe(
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   1  bob         10  2026-01-01T09:00:01.000Z',
        '   2  ada         10  2026-01-01T09:00:02.000Z',
        '5 players at TIME',
        '',
        'arena: all',
        '',
        'rank  player  points  reached',
        '   1  cyd         25  2026-01-01T09:00:04.000Z',
        '   2  bob         10  2026-01-01T09:00:01.000Z',
        '5 players at TIME',
        '',
        '',
      ].join('\n'),
    );
  });
});

describe('views', () => {
  it('prints about 10,000 views at a time', async () => {
    const events = Array.from({ length: 172 }, (_, event) => {
      const region = Array.from({ length: 64 }, (_, at) => `r-${event}-${at}`);
      return JSON.stringify({ board: 'many', playerId: 'ada', delta: 1, attributes: { region } });
    });
    await send(events);
    const { out } = await ranklog('views', 'many');
    expect(out.match(/^view +players +version +expires$/gm)).toHaveLength(2);
    const listed = await json('views', 'many');
    expect(new Set((listed as unknown as ViewSummary[]).map(({ view }) => view)).size).toBe(11_008);
  });
});

describe('explain', () => {
  it('shows what each event did, and what decides against each neighbour', async () => {
    await send([
      arena('bob', '0', '09:00:05'),
      arena('bob', '1.5', '09:00:06'),
      JSON.stringify({
        board: 'arena',
        playerId: 'bob',
        delta: 7,
        occurredAt: '2026-01-02T09:00:00Z',
      }),
    ]);
    const { code, out } = await ranklog('explain', 'arena', 'bob', '--window', 'day:2026-01-01');
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'bob on arena, day:2026-01-01: rank 2 of 5',
        'cyd is in front: points 25 > 10',
        'ada is behind: equal columns; reached 2026-01-01T09:00:01.000Z before 2026-01-01T09:00:02.000Z',
        '',
        'offset  occurred                  points  effect',
        '     0  2026-01-01T09:00:01.000Z  10      counts',
        '     2  2026-01-01T09:00:05.000Z  0       counts',
        `     3  2026-01-01T09:00:06.000Z  -       dead letter: TOO_MANY_DECIMALS: column "points" of board "arena": "1.5" has more decimals than the column's 0`,
        '     4  2026-01-02T09:00:00.000Z  7       in other views',
        '',
        '4 records of the player in partition 0, from offset 0 to before 5. Other partitions are left out.',
        '',
      ],
    ]);
    const { above, below } = await json('explain', 'arena', 'dan');
    expect([above, below]).toMatchObject([
      { playerId: 'ada', decidedBy: 'points 10 > 3' },
      { playerId: 'eve', decidedBy: 'equal in all; the id dan comes before eve' },
    ]);
  });

  it('says that other partitions are left out if their events make the place', async () => {
    await letProducersDate(instance, instance.topics.scoreEvents);
    const producer = instance.kafka.producer();
    await producer.connect();
    const value = arena('fay', 1, '09:00:00');
    const messages = [0, 1].map((partition) => ({ key: 'other', value, partition }));
    const undated = JSON.stringify({ board: 'arena', playerId: 'fay', delta: 1 });
    const odd = [0, 1].map((partition) => {
      return { key: 'fay', value: undated, partition, timestamp: '-90000000000000000' };
    });
    await producer.send({ topic: instance.topics.scoreEvents, messages: [...messages, ...odd] });
    await producer.disconnect();
    await instance.published((sent += 4));
    const { code, out } = await ranklog('explain', 'arena', 'fay');
    expect(code).toBe(1);
    expect(out).toContain(
      'do not explain: points. Possible reasons: events in other partitions ("--all-partitions" reads them), ',
    );
    expect(out.match(/^ *\d+ {2}2026-01-01T09:00:00\.000Z {2}1 +counts$/gm)).toHaveLength(1);
    expect(out).toMatch(/^ *\d+ {2}- +- +dead letter: INVALID_TIME: /m);
    expect(out).toMatch(
      /^2 records of the player in partition \d, .* Other partitions are left out\.$/m,
    );
    const all = await ranklog('explain', 'arena', 'fay', '--all-partitions');
    expect(all.code).toBe(0);
    expect(all.out).toMatch(/^partition +offset +occurred/m);
    expect(all.out.match(/^ *[01] +\d+ +2026-01-01T09:00:00\.000Z {2}1 +counts$/gm)).toHaveLength(
      2,
    );
    expect(all.out).toMatch(/^4 records of the player in 2 partitions\.$/m);
  });

  it('says where the events of a player may be who has none in the partition of the key', async () => {
    const own = partitionOf('gus', 2);
    const producer = instance.kafka.producer();
    await producer.connect();
    const value = arena('gus', 1, '09:00:00');
    const messages = [{ key: 'gus', value, partition: 1 - own }];
    await producer.send({ topic: instance.topics.scoreEvents, messages });
    await producer.disconnect();
    await instance.published((sent += 1));
    const { code, out } = await ranklog('explain', 'arena', 'gus');
    expect(code).toBe(1);
    expect(out).toContain(`partitioner puts the events of this player into partition ${own}.`);
    expect(out).toContain('"--all-partitions" reads all partitions.');
    const args = ['explain', 'arena', 'gus', '--all-partitions', '--limit', '1'];
    expect(await ranklog(...args)).toMatchObject({ code: 0 });
    expect(await json(...args)).toMatchObject({
      ...{ partition: null, offsets: null, count: 1, unexplained: [] },
      events: [{ partition: 1 - own, effect: 'counts' }],
    });
  });

  it('finds the events that make the places of a random history, of every update, with duplicates and dead letters', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const pick = (count: number) => Math.floor(random() * count);
    const players = ['p-1', 'p-2', 'p-3'];
    const lines = Array.from({ length: 300 }, () =>
      JSON.stringify({
        board: 'mixed',
        playerId: players[pick(3)],
        deltas: { wins: pick(3), best: pick(9) - (pick(20) === 0 ? 0.5 : 0), last: pick(3) },
        occurredAt: new Date(Date.UTC(2026, 0, 1 + pick(2), 22, 0, pick(9_000))).toISOString(),
        eventId: `e-${pick(60)}`,
        attributes: { region: ['eu', 'us'][pick(2)] },
      }),
    );
    await send(lines);
    const { definition } = await instance.reader.board('mixed');
    const placeAfter = (events: readonly HistoryEntry[]) => {
      let state: OracleState | undefined;
      for (const { values, occurredAt } of events) {
        const inSortDirection = definition.columns.map((column) =>
          sortDirection(column, Number(values[column.name])),
        );
        const event = { values: inSortDirection, occurredAt: Date.parse(occurredAt ?? '') };
        state = updatedState(definition, state, {
          playerId: '',
          views: [],
          ...event,
        }) as OracleState;
      }
      const columns = decimalColumns(definition, state?.map(({ value }) => value) ?? []);
      return { columns, reachedAt: formatTime(reachTime(state ?? [])) };
    };
    const effects = new Set<string>();
    for (const player of players)
      for (const view of ['all', 'day:2026-01-02', 'all region=eu']) {
        const found = await json('explain', 'mixed', player, '--view', view, '--limit', '1000');
        const events = found['events'] as HistoryEntry[];
        expect(events).toHaveLength(found['count'] as number);
        const made = placeAfter(events.filter(({ effect }) => effect === 'counts'));
        expect({ player, view, ...found }).toMatchObject({
          standing: { playerId: player, ...made },
          unexplained: [],
        });
        for (const { effect } of events) effects.add(effect.split(':')[0] ?? '');
      }
    expect([...effects].sort()).toEqual(['counts', 'dead letter', 'duplicate', 'in other views']);
    const { out } = await ranklog('explain', 'mixed', 'p-1', '--limit', '2');
    expect(out).toMatch(/\n\n(.*\n){3}\n\d+ records of the player in .*; the last 2 are shown\./);
  });
});

describe('a stale answer', () => {
  it('ends with 5 and a warning', async () => {
    const keys = new KeySpace(instance.name);
    await instance.redis.hset(keys.recoveryTargets(0), '0', 1_000_000);
    for (const args of [
      ['standings', 'arena'],
      ['views', 'arena'],
      ['rank', 'arena', 'ada'],
      ['rank', 'arena', 'nobody', '--window', 'all'],
      ['around', 'arena', 'ada'],
      ['explain', 'arena', 'ada'],
      ['export', 'arena'],
      ['export', 'empty'],
    ])
      expect([args, await ranklog(...args)]).toEqual([
        args,
        expect.objectContaining({ code: 5, err: expect.stringContaining('ranklog: stale: ') }),
      ]);
    await instance.redis.del(keys.recoveryTargets(0));
  });
});
