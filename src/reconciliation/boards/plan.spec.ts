import { describe, expect, it } from '@jest/globals';
import { definitionHash, parseBoardsFile, type BoardDefinition } from '#board';
import type { LiveBoard, ReconciliationStatus } from '#board-store';
import { fieldChanges, isPublishOnly } from './field-changes.js';
import { backfillOf, boardChanges, needsBuild, rangesToRead } from './plan.js';

function board(fields: string): BoardDefinition {
  const [definition] = parseBoardsFile(`boards:\n  arena: { ${fields} }`, 'boards.yaml');
  if (definition === undefined) throw new Error('the file has one board');
  return definition;
}
const differences = (before: string, after: string) => fieldChanges(board(before), board(after));
const liveMap = (definitions: readonly BoardDefinition[]): Map<string, LiveBoard> =>
  new Map(
    definitions.map((definition) => {
      const { board } = definition;
      return [board, { board, generation: `g-${board}`, definition }];
    }),
  );

describe('fieldChanges', () => {
  const PLAIN = 'columns: [{ name: score }]';

  it('ignores a default that is written out', () => {
    expect(differences(PLAIN, `${PLAIN}, ties: earliest, publish: { overtook: 0 }`)).toEqual([]);
  });

  it('shows plain fields as a boards file writes them, and null for unset ones', () => {
    expect(
      differences(
        `${PLAIN}, deduplicate: 24h`,
        `${PLAIN}, ties: latest, maxAhead: 90s, timeZone: Europe/Paris`,
      ),
    ).toEqual([
      { field: 'ties', before: 'earliest', after: 'latest' },
      { field: 'timeZone', before: 'UTC', after: 'Europe/Paris' },
      { field: 'maxAhead', before: '1h', after: '90s' },
      { field: 'deduplicate', before: '1d', after: null },
    ]);
  });

  it('matches columns by name, in any order', () => {
    expect(
      differences(
        'columns: [{ name: kills, min: 0 }, { name: time, order: asc }]',
        'columns: [{ name: time, order: asc, decimals: 3 }, { name: kills }]',
      ),
    ).toEqual([
      { field: 'columns', before: '[ kills, time ]', after: '[ time, kills ]' },
      { field: 'columns.time.decimals', before: '0', after: '3' },
      { field: 'columns.kills.min', before: "'0'", after: null },
    ]);
  });

  it('shows the fields of an added column, and last the fields of a removed window', () => {
    expect(
      differences(
        `${PLAIN}, windows: [all, { window: week, keep: 14d }]`,
        'columns: [{ name: score }, { name: wins }], windows: [all, day]',
      ),
    ).toEqual([
      { field: 'columns', before: '[ score ]', after: '[ score, wins ]' },
      { field: 'columns.wins.update', before: null, after: 'sum' },
      { field: 'columns.wins.order', before: null, after: 'desc' },
      { field: 'columns.wins.decimals', before: null, after: '0' },
      { field: 'windows', before: '[ all, week ]', after: '[ all, day ]' },
      { field: 'windows.week.keep', before: '14d', after: null },
    ]);
  });

  it('shows dimensions and the fields of publish', () => {
    const changes = differences(
      PLAIN,
      `${PLAIN}, dimensions: [[], [guild]], publish: { dimensions: [[]], leaders: 10 }`,
    );
    expect(changes).toEqual([
      { field: 'dimensions', before: '[ [] ]', after: '[ [], [ guild ] ]' },
      { field: 'publish.dimensions', before: null, after: '[ [] ]' },
      { field: 'publish.leaders', before: '0', after: '10' },
    ]);
    expect(isPublishOnly(changes)).toBe(false);
    expect(isPublishOnly(changes.slice(1))).toBe(true);
    expect(isPublishOnly([])).toBe(false);
  });
});

/** The status of a finished build, with `facts` that replace its fields. */
const status = (facts: Partial<ReconciliationStatus>): ReconciliationStatus => ({
  ...{ board: 'arena', kind: 'build', state: 'done', generation: 'g', holder: 'host:1' },
  ...{ done: 5, total: 10, rate: 1, secondsLeft: null, startedAt: 1_000, updatedAt: 6_000 },
  ...facts,
});

describe('boardChanges', () => {
  const [one, two, three] = parseBoardsFile(
    `boards:\n${['one', 'two', 'three'].map((name) => `  ${name}: { columns: [{ name: x }] }\n`).join('')}`,
    'boards.yaml',
  ) as [BoardDefinition, BoardDefinition, BoardDefinition];
  const none = { fields: [], builtBy: null };

  it('compares each board of the file with the live one, then lists the boards that are not in it', () => {
    const changed: BoardDefinition = { ...two, ties: 'none' };
    const live = liveMap([one, two, { ...one, board: 'old' }]);
    const present = { live, building: new Set(['fresh']) };
    expect(boardChanges([one, changed, three], present, [])).toEqual([
      { board: 'one', change: 'same', live: live.get('one'), ...none },
      {
        board: 'two',
        change: 'changed',
        live: live.get('two'),
        fields: [{ field: 'ties', before: 'earliest', after: 'none' }],
        builtBy: null,
      },
      { board: 'three', change: 'new', ...none },
      { board: 'fresh', change: 'removed', live: undefined, ...none },
      { board: 'old', change: 'removed', live: live.get('old'), ...none },
    ]);
  });

  it.each([
    ['no build in progress', { state: 'failed' }, true, null],
    ['a build of the same definition', { generation: `7-${definitionHash(two)}` }, false, 'same'],
    [
      'a build of another definition',
      { generation: `7-${definitionHash({ ...two, ties: 'none' })}` },
      true,
      'other',
    ],
    ['a build that has no generation yet', { generation: '' }, false, 'same'],
  ] as const)('a board without a live generation: %s', (_, facts, isNeeded, definition) => {
    const present = { live: new Map<string, LiveBoard>(), building: new Set(['two']) };
    const run = status({ board: 'two', state: 'running', ...facts });
    const [change] = boardChanges([two], present, [run]);
    const builtBy = definition && { holder: 'host:1', done: 5, total: 10, definition };
    expect(change).toEqual({ board: 'two', change: 'building', fields: [], builtBy });
    expect(needsBuild(change!)).toBe(isNeeded);
  });
});

describe('a backfill', () => {
  it('reads each partition from the start of its log, or of the build, to the live applied offset', () => {
    const ranges = new Map([0, 1, 2].map((partition) => [partition, { start: 10, end: 99 }]));
    const appliedOffsets = new Map([
      [0, 49],
      [1, 5],
      [2, 59],
    ]);
    const begins = new Map([[2, 50]]);
    expect(backfillOf({ ranges, appliedOffsets, begins }, []).records).toBe(40 + 0 + 10);
  });

  it('reads to the end of a log that ends before the applied offset, as one does that was made again', () => {
    const ranges = new Map([[0, { start: 0, end: 30 }]]);
    const appliedOffsets = new Map([
      [0, 49],
      [1, 5],
    ]);
    expect(rangesToRead({ ranges, appliedOffsets, begins: new Map() })).toEqual(
      new Map([
        [0, { start: 0, end: 30 }],
        [1, { start: 0, end: 0 }],
      ]),
    );
  });

  it('names the last build that read records and succeeded', () => {
    const log = { ranges: new Map(), appliedOffsets: new Map(), begins: new Map() };
    const statuses = [
      status({ total: 20_000, startedAt: 1_000, updatedAt: 3_000 }),
      status({ total: 50_000, startedAt: 1_000, updatedAt: 6_000 }),
      status({ state: 'failed', updatedAt: 7_000 }),
      status({ total: 0, updatedAt: 9_000 }),
      status({ kind: 'verify', updatedAt: 8_000 }),
    ];
    expect(backfillOf(log, statuses).lastBuild).toEqual({ records: 50_000, seconds: 5 });
    expect(backfillOf(log, []).lastBuild).toBeNull();
  });
});
