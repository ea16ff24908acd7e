import { describe, expect, it } from '@jest/globals';
import { definitionHash, parseBoardsFile, type BoardDefinition } from '#board';
import type { LiveBoard, ReconciliationStatus } from '#board-store';
import { boardChanges } from './board-changes.js';
import { fieldChanges, isPublishOnly } from './field-changes.js';
import { idlePlan, toBeBuilt } from './plan.js';

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

  it('finds none where a default is spelled out', () => {
    expect(differences(PLAIN, `${PLAIN}, ties: earliest, publish: { overtook: 0 }`)).toEqual([]);
  });

  it('tells plain fields as a boards file writes them, and what is not set', () => {
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

  it('tells columns by their names, wherever they stand', () => {
    expect(
      differences(
        'columns: [{ name: kills, min: 0 }, { name: time, order: asc }]',
        'columns: [{ name: time, order: asc, decimals: 3 }, { name: kills }]',
      ),
    ).toEqual([
      { field: 'columns', before: '[ kills, time ]', after: '[ time, kills ]' },
      { field: 'columns.kills.min', before: "'0'", after: null },
      { field: 'columns.time.decimals', before: '0', after: '3' },
    ]);
  });

  it('tells a column or window that comes or goes as a whole', () => {
    expect(
      differences(
        `${PLAIN}, windows: [all, { window: week, keep: 14d }]`,
        'columns: [{ name: score }, { name: wins }], windows: [all, day]',
      ),
    ).toEqual([
      { field: 'columns', before: '[ score ]', after: '[ score, wins ]' },
      {
        field: 'columns.wins',
        before: null,
        after: '{ update: sum, order: desc, decimals: 0 }',
      },
      { field: 'windows', before: '[ all, week ]', after: '[ all, day ]' },
      { field: 'windows.week', before: '{ keep: 14d }', after: null },
    ]);
  });

  it('tells dimensions, and what is published by the words that are given', () => {
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

describe('boardChanges', () => {
  const [one, two, three] = parseBoardsFile(
    `boards:\n${['one', 'two', 'three'].map((name) => `  ${name}: { columns: [{ name: x }] }\n`).join('')}`,
    'boards.yaml',
  ) as [BoardDefinition, BoardDefinition, BoardDefinition];

  it('says of each board of the file what it is beside the live ones, then of those that are not in it', () => {
    const changed: BoardDefinition = { ...two, ties: 'none' };
    const live = liveMap([one, two, { ...one, board: 'old' }]);
    const found = boardChanges([one, changed, three], {
      live,
      building: new Set(['fresh']),
      statuses: [],
    });
    expect(found).toEqual([
      { change: 'same', definition: one, live: live.get('one') },
      {
        change: 'changed',
        definition: changed,
        live: live.get('two'),
        fields: [{ field: 'ties', before: 'earliest', after: 'none' }],
      },
      { change: 'new', definition: three },
      { change: 'removed', board: 'fresh' },
      { change: 'removed', board: 'old', live: live.get('old') },
    ]);
  });

  it('knows a board whose first generation is being built, and by whom', () => {
    const present = { live: new Map<string, LiveBoard>(), building: new Set(['one', 'two']) };
    const run: ReconciliationStatus = {
      ...{ board: 'two', kind: 'build', state: 'running', holder: 'host:1' },
      generation: `7-${definitionHash(two)}`,
      ...{ done: 5, total: 10, rate: 1, secondsLeft: 5, startedAt: 0, updatedAt: 0 },
    };
    const statuses = [run, { ...run, board: 'one', state: 'failed' } as const];
    const found = boardChanges([one, two], { ...present, statuses });
    expect(found).toEqual([
      { change: 'building', definition: one },
      { change: 'building', definition: two, run },
    ]);
    expect(found.map(toBeBuilt)).toEqual([true, false]);
    expect(idlePlan(found).boards.map(({ builtBy }) => builtBy)).toEqual([
      null,
      { holder: 'host:1', done: 5, total: 10, definition: 'same' },
    ]);
  });

  it('has a board built that somebody builds by another definition', () => {
    const present = { live: new Map<string, LiveBoard>(), building: new Set(['two']) };
    const run: ReconciliationStatus = {
      ...{ board: 'two', kind: 'build', state: 'running', holder: 'host:1' },
      generation: `7-${definitionHash({ ...two, ties: 'none' })}`,
      ...{ done: 5, total: 10, rate: 1, secondsLeft: 5, startedAt: 0, updatedAt: 0 },
    };
    const found = boardChanges([two], { ...present, statuses: [run] });
    expect(found.map(toBeBuilt)).toEqual([true]);
    expect(idlePlan(found).boards[0]?.builtBy).toMatchObject({ definition: 'other' });
    const begun = boardChanges([two], { ...present, statuses: [{ ...run, generation: '' }] });
    expect(begun.map(toBeBuilt)).toEqual([false]);
  });
});
