import { spawn, spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace, type Standing } from '#board-store';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { readCommitted } from '../support/results.js';

const CLI = path.resolve('dist/cli/main.js');
const BOARDS = `
boards:
  arena:
    columns: [{ name: score, update: best }]
    dimensions: [[], [region, season]]
  daily:
    columns: [{ name: points }]
    timeZone: Europe/Paris
    windows: [all, { window: day, keep: 10d }, { window: week, keep: 99999999d }]
  sprint: { columns: [{ name: points }], publish: { leaders: 2 } }
  golf: { columns: [{ name: strokes, order: asc }], publish: { leaders: 1 } }
`;
const event = (playerId: string, delta: string, region = 'eu') =>
  JSON.stringify({
    board: 'arena',
    playerId,
    delta,
    occurredAt: '2026-01-01T00:00:00Z',
    attributes: { region, season: '1 a' },
  });

const on = (board: string) => (playerId: string, delta: string, occurredAt: string) =>
  JSON.stringify({ board, playerId, delta, occurredAt });
const [daily, sprint, golf] = [on('daily'), on('sprint'), on('golf')];
const BOARD_NAMES = ['arena', 'daily', 'golf', 'sprint'];
/** The start of 2 January in Paris, an hour before it starts in UTC. */
const NEW_YEAR = '2026-01-01T23:00:00.000Z';

describe('the commands', () => {
  let instance: TestInstance;
  let service: RanklogProcess;
  const ranklog = (args: string[], { input = '', env = {} } = {}) => {
    const run = spawnSync(process.execPath, [CLI, ...args], {
      env: { ...instance.env, ...env },
      input,
      encoding: 'utf8',
    });
    return { code: run.status, out: run.stdout, err: run.stderr };
  };
  const json = (...args: string[]) => JSON.parse(ranklog([...args, '--json']).out) as unknown;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    service = await instance.start();
    const lines = [
      event('ada', '1200'),
      event('bob', '1200', 'us'),
      event('cyd', '990'),
      event('dan', '5'),
      daily('ada', '10', '2026-01-01T22:59:59.999Z'),
      daily('bob', '20', '2026-01-01T23:00:00Z'),
      daily('cyd', '20', '2026-01-01T23:00:01Z'),
    ];
    const inBatches = [
      [...lines, sprint('ada', '3', '2026-01-01T00:00:00Z')].join('\n'),
      // Moves the event clock of "daily", after the events above were applied.
      daily('bob', '1', '2026-01-12T00:00:00Z'),
      `${golf('tom', '72', '2026-01-01T00:00:01Z')}\n${sprint('bob', '5', '2026-01-01T00:00:02Z')}`,
      sprint('cyd', '4', '2026-01-01T00:00:03Z'),
    ];
    for (const input of inBatches) {
      ranklog(['produce', '-'], { input });
      expect(ranklog(['status', '--wait', '60']).code).toBe(0);
    }
  });
  afterAll(() => instance.remove());

  it('standings --json has the documented shape', () => {
    expect(
      json('standings', 'arena', '--view', 'all season=1%20a region=eu', '--top', '1'),
    ).toEqual({
      board: 'arena',
      view: 'all region=eu season=1%20a',
      stale: false,
      size: 3,
      entries: [
        {
          rank: 1,
          competitionRank: 1,
          denseRank: 1,
          aheadOf: 2,
          percentile: 66.66,
          playerId: 'ada',
          columns: { score: '1200' },
          reachedAt: '2026-01-01T00:00:00.000Z',
        },
      ],
      next: expect.any(String),
    });
  });

  it('standings finds a view by --where in any order, and prints an aligned table', () => {
    const { out, code } = ranklog([
      'standings',
      'arena',
      '--where',
      'season=1 a',
      '--where',
      'region=eu',
      '--all',
    ]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'arena: all region=eu season=1%20a',
        '',
        'rank  player  score  reached',
        '   1  ada      1200  2026-01-01T00:00:00.000Z',
        '   2  cyd       990  2026-01-01T00:00:00.000Z',
        '   3  dan         5  2026-01-01T00:00:00.000Z',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [['standings', 'arana'], 1, 'did you mean arena?'],
    [
      ['standings', 'arena', '--where', 'region=eu'],
      2,
      'it is ranked: overall (no dimensions); region and season',
    ],
    [
      ['rank', 'arena', 'ada', '--where', 'regoin=eu', '--where', 'season=1'],
      2,
      'did you mean region and season?',
    ],
    [['standings', 'arena', '--window', 'week'], 2, 'has no window "week"; write all'],
    [['standings', 'daily', '--window', 'wek'], 2, 'did you mean week?'],
    [['rank', 'daily', 'ada', '--window', 'week:2026-W54'], 2, 'write all, day, day:current'],
    [
      ['standings', 'daily', '--view', 'all  x'],
      2,
      'is not a view; write WINDOW or WINDOW NAME=VALUE',
    ],
    [['standings', 'daily', '--view', 'all', '--window', 'all'], 2, 'cannot be used with option'],
    [['standings', 'daily', '--at', '2026-02-30'], 2, 'use a date, or a time such as'],
    [['views', 'dayly'], 1, 'did you mean daily?'],
    [['standings', 'arena', '--top', '0'], 2, 'use a whole number from 1'],
    [['rank', 'arena', 'nobody'], 1, ''],
    [['start', '--roles', 'ingest,cook'], 2, '"cook" is not a role; use ingest, reconciliation'],
    [['produce', '/nowhere.ndjson'], 2, "can't read /nowhere.ndjson"],
    [['cook'], 2, "unknown command 'cook'"],
    [['views'], 2, "missing required argument 'board'"],
  ])('%j ends with exit code %i and a helpful word', (args, exitCode, word) => {
    const { code, err } = ranklog(args);
    expect(code).toBe(exitCode);
    expect(err).toContain(word);
    expect(err).not.toContain('    at ');
  });

  it('rank lists the places of a player, and views lists the views of a board', () => {
    expect(json('rank', 'arena', 'bob')).toMatchObject({
      playerId: 'bob',
      places: [
        { view: 'all', size: 4, rank: 2, competitionRank: 1, aheadOf: 2, percentile: 50 },
        { view: 'all region=us season=1%20a', size: 1, rank: 1, aheadOf: 0, percentile: 0 },
      ],
    });
    expect(json('views', 'arena')).toMatchObject([
      { view: 'all', size: 4, expiresAt: null },
      { view: 'all region=eu season=1%20a', size: 3 },
      { view: 'all region=us season=1%20a', size: 1 },
    ]);
  });

  it('standings and rank read the current and the previous window, now or at a time, in the zone of the board', () => {
    const entries = [
      { playerId: 'bob', rank: 1, denseRank: 1 },
      { playerId: 'cyd', rank: 2, denseRank: 1 },
    ];
    for (const [window, at] of [
      ['day', NEW_YEAR],
      ['day:current', '2026-01-03T00:00:00+02:00'],
      ['day:previous', '2026-01-03T00:00:00+01:00'],
      ['day', '2026-01-02T23:30'],
      ['day:previous', '2026-01-03'],
      ['day:2026-01-02', NEW_YEAR],
    ] as const)
      expect(json('standings', 'daily', '--window', window, '--at', at)).toMatchObject({
        view: 'day:2026-01-02',
        entries,
      });
    for (const at of [NEW_YEAR, '2026-01-02 00:00', '2025-12-29'])
      expect(json('rank', 'daily', 'ada', '--window', 'week', '--at', at)).toMatchObject({
        places: [{ view: 'week:2026-W01', rank: 3, size: 3 }],
      });
    expect(json('explain', 'daily', 'ada', '--window', 'week', '--at', '2025-12-29')).toMatchObject(
      { view: 'week:2026-W01' },
    );
    expect(json('around', 'daily', 'ada', '--window', 'week', '--at', '2025-12-29')).toMatchObject({
      view: 'week:2026-W01',
    });
    const env = { RANKLOG_LOG_LEVEL: 'error' }; // on a busy machine, a wait for Redis is logged
    const now = ranklog(['standings', 'daily', '--window', 'week'], { env });
    expect(now.code).toBe(0);
    expect(now.err).toMatch(/^ranklog: nobody is ranked in "week:\d{4}-W\d\d"\n$/);
  });

  it('standings of a view without players is empty, and suggests a similar name', () => {
    const args = ['standings', 'arena', '--view', 'all region=e season=1%20a'];
    const { code, err } = ranklog(args);
    expect([code, err]).toEqual([
      0,
      'ranklog: nobody is ranked in "all region=e season=1%20a"; did you mean all region=eu season=1%20a?\n',
    ]);
    expect(json(...args.slice(0, 3), 'all region=e season=1%20a')).toMatchObject({
      size: 0,
      entries: [],
    });
  });

  it('rank counts dense ranks on demand', () => {
    const rank = ['rank', 'daily', 'ada', '--view', 'week:2026-W01'];
    expect(json(...rank)).not.toHaveProperty('places.0.denseRank');
    expect(json(...rank, '--dense')).toHaveProperty('places.0.denseRank', 2);
    expect(ranklog([...rank, '--dense']).out).toBe(
      [
        'ada on daily',
        '',
        'view           rank  competition  dense  ahead of  %  points  reached',
        'week:2026-W01     3            3      2  0 of 3    0      10  2026-01-01T22:59:59.999Z',
        '',
      ].join('\n'),
    );
  });

  it('an expired view is listed nowhere, and reading it is an error that says when it expired', () => {
    expect(json('views', 'daily')).toMatchObject([
      { view: 'all', size: 3, expiresAt: null },
      { view: 'day:2026-01-02', size: 2, expiresAt: '2026-01-12T23:00:00.000Z' },
      { view: 'day:2026-01-12', size: 1, expiresAt: '2026-01-22T23:00:00.000Z' },
      { view: 'week:2026-W01', size: 3, expiresAt: null },
      { view: 'week:2026-W03', size: 1, expiresAt: null },
    ]);
    expect(ranklog(['views', 'daily']).out).toMatch(
      /^view +players +version +expires\nall +3 +\d+ +never\nday:2026-01-02 +2 +\d+ +2026-01-12T23:00:00.000Z\n/,
    );
    const { code, err } = ranklog(['standings', 'daily', '--window', 'day:2026-01-01']);
    expect([code, err]).toEqual([
      1,
      'ranklog: view "day:2026-01-01" of board "daily" has expired: it was kept until 2026-01-11T23:00:00.000Z, ' +
        'and the latest event of the board is of 2026-01-12T00:00:00.000Z\n',
    ]);
    expect(json('rank', 'daily', 'ada')).toMatchObject({
      places: [{ view: 'all' }, { view: 'week:2026-W01' }],
    });
  });

  it('status shows the counters of each board', () => {
    const zero = { expired: 0, duplicates: 0 };
    expect(json('status')).toMatchObject({
      partitions: [{ partition: 0, lag: 0 }],
      boards: [
        { board: 'arena', views: 3, maxViews: 10_000, clock: null, ...zero },
        { board: 'daily', views: 5, maxViews: 10_000, clock: '2026-01-12T00:00:00.000Z', ...zero },
        { board: 'golf', views: 1 },
        { board: 'sprint', views: 1 },
      ],
    });
    const { out } = ranklog(['status']);
    expect(out).toMatch(/^daily +5 +10000 +2026-01-12T00:00:00.000Z +0 +0$/m);
  });

  it('status counts dead letters by reason, and is the same over HTTP', async () => {
    const overHttp = async () => (await (await fetch(`${service.url}/v1/status`)).json()) as object;
    const send = async (...values: string[]) => {
      const producer = instance.kafka.producer();
      await producer.connect();
      const messages = values.map((value) => ({ value }));
      await producer.send({ topic: instance.topics.scoreEvents, messages });
      await producer.disconnect();
      expect(ranklog(['status', '--wait', '60']).code).toBe(0);
    };
    expect(await overHttp()).toMatchObject({ deadLetters: [] });
    const unknown = event('ada', '1').replace('arena', 'arana');
    await send('no json', unknown, 'null');
    await send(unknown);
    const found = json('status');
    const at = { firstAt: expect.any(String), lastAt: expect.any(String) };
    expect(found).toMatchObject({
      misplaced: { key: expect.any(Number), partition: 0, earlier: null },
      generations: BOARD_NAMES.map((board) => ({ board, role: 'live' })),
      deadLetters: [
        { code: 'UNKNOWN_BOARD', count: 2, ...at, detail: expect.stringContaining('arana') },
        { code: 'NOT_JSON', count: 1, ...at, detail: expect.any(String) },
        { code: 'NOT_AN_OBJECT', count: 1, ...at, detail: expect.any(String) },
      ],
    });
    const { misplaced } = found as { misplaced: { key: number } };
    expect(misplaced.key).toBeGreaterThanOrEqual(2); // those of "arana" have no key
    const { out } = ranklog(['status']);
    expect(out).toMatch(/^4 recent dead letters, the last at 20.*:\n\n.*\nUNKNOWN_BOARD +2 +20/m);
    const text = JSON.stringify(found);
    await until(async () => JSON.stringify(await overHttp()) === text, 'HTTP says the same');
  });

  const watch = (limit: number, ...args: string[]) =>
    ranklog(['watch', '--from-beginning', '--limit', String(limit), ...args])
      .out.trimEnd()
      .split('\n');

  it('watch shows rank changes from the beginning, also only those of one player', () => {
    expect(watch(1, 'arena', '--player', 'cyd')).toEqual([
      expect.stringMatching(/cyd {2}all {2}new -> \d {2}score 990$/),
      expect.stringMatching(/cyd {2}all region=eu season=1%20a {2}new -> \d/),
    ]);
    expect(JSON.parse(watch(1, 'golf', '--json')[0]!)).toMatchObject({
      board: 'golf',
      playerId: 'tom',
    });
  });

  it('watch shows leader changes, one per line: those of a board, or of a player', () => {
    expect(watch(3, 'sprint', '--leaders')).toEqual([
      '2026-01-01T00:00:00.000Z  sprint  all  ada new -> 1  top: ada (3)',
      '2026-01-01T00:00:02.000Z  sprint  all  bob new -> 1  ada 1 -> 2  top: bob (5), ada (3)',
      '2026-01-01T00:00:03.000Z  sprint  all  cyd new -> 2  ada 2 -> out  top: bob (5), cyd (4)',
    ]);
    const ofBob = watch(1, '--leaders', '--player', 'bob', '--json');
    expect(ofBob.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { board: 'sprint', entered: [{ playerId: 'bob', rank: 1 }] },
    ]);
    expect(watch(1, '--leaders', '--player', 'tom')).toEqual([
      '2026-01-01T00:00:01.000Z  golf  all  tom new -> 1  top: tom (72)',
    ]);
  });

  it('export writes all players of all views, or of some, as NDJSON or CSV', () => {
    const views = ['all', 'all region=eu season=1%20a', 'all region=us season=1%20a'];
    const exported = (...args: string[]) => ranklog(['export', 'arena', ...args]);
    const expected = views.flatMap((view) => {
      const { entries } = json('standings', 'arena', '--view', view) as { entries: Standing[] };
      return entries.map(({ rank, competitionRank, playerId, columns, reachedAt }) => ({
        ...{ view, rank, competitionRank, playerId, columns, reachedAt },
      }));
    });
    const lines = (text: string) => text.trimEnd().split('\n');
    const rows = (text: string) => lines(text).map((line) => JSON.parse(line) as unknown);
    expect(rows(exported().out)).toEqual(expected);
    const two = exported('--view', views[2]!, '--view', 'all region=none season=1');
    expect(rows(two.out)).toEqual(expected.filter(({ view }) => view === views[2]));
    const none = exported('--view', 'all region=none season=1');
    expect([none.code, none.out, none.err]).toEqual([
      ...[0, '', 'ranklog: nobody is ranked in these views\n'],
    ]);
    expect(exported('--format', 'csv', '--view', views[2]!).out).toBe(
      'view,rank,competitionRank,playerId,columns.score,reachedAt\r\n' +
        'all region=us season=1%20a,1,1,bob,1200,2026-01-01T00:00:00.000Z\r\n',
    );
    expect(exported('--view', 'week')).toMatchObject({ code: 2, out: '' });
  });

  it('produce sends valid lines byte for byte, reports invalid ones with their line number, and reads gzip', async () => {
    const spaced = event('eve', '7').replace(',', ' ,  ');
    const file = path.join(tmpdir(), `${instance.name}.ndjson.gz`);
    await writeFile(
      file,
      gzipSync(`${spaced}\r\n\n{"board":"arena"}\nno json\n${event('eve', '8')}`),
    );
    const { code, out, err } = ranklog(['produce', file, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ sent: 2, rejected: 2 });
    expect(err).toContain(`${file}:3: INVALID_ID: playerId is missing`);
    expect(err).toContain(`${file}:4: NOT_JSON`);
    const sent = (await readCommitted(instance.kafka, instance.topics.scoreEvents)).filter(
      ({ key }) => key?.toString() === 'eve',
    );
    expect(sent.map(({ value }) => value?.toString())).toEqual([spaced, event('eve', '8')]);
    expect(sent[0]?.headers).toMatchObject({ ce_type: Buffer.from('ranklog.score-event.v1') });
  });

  it('start ends with 2 and names a setting that is not allowed', () => {
    const { code, err } = ranklog(['start'], { env: { RANKLOG_VERIFY_SCHEDULE: '0 25 * * *' } });
    expect(code).toBe(2);
    expect(err).toContain('RANKLOG_VERIFY_SCHEDULE: "0 25 * * *" is not allowed');
  });

  it('config shows the settings in force, without secrets', () => {
    const { out } = ranklog(['config', '--json'], { env: { KAFKA_SASL_PASSWORD: 'hunter2' } });
    expect(out).not.toContain('hunter2');
    expect(JSON.parse(out)).toContainEqual(
      expect.objectContaining({
        env: 'RANKLOG_GROUP',
        value: instance.name,
        origin: 'environment',
      }),
    );
  });

  it.each(['standings arena', 'export arena'])(
    '%s: a pipe that its reader closes early causes no error',
    async (command) => {
      const script = `set -o pipefail; ${process.execPath} ${CLI} ${command} | true`;
      const shell = spawn('bash', ['-c', script], { env: instance.env });
      let err = '';
      shell.stderr.on('data', (data: Buffer) => (err += data.toString()));
      const code = await new Promise((resolve) => shell.on('close', resolve));
      expect([code, err]).toEqual([0, '']);
    },
  );
});

describe('the boards of a running ranklog', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
  });
  afterAll(() => instance.remove());

  it('are awaited by a process with the role ingest alone; a board may be added until the first record, and its events are no dead letters', async () => {
    const ingest = instance.spawn('start', '--roles', 'ingest');
    const said =
      'ingest takes no partitions yet: no board is live in Redis, so no event can be applied; start the role reconciliation with a boards file (RANKLOG_BOARDS)';
    await until(() => ingest.errors.includes(said), 'it says what it waits for');
    const problems = [said.replace(/^.*yet: /, '')];
    const answerOf = async (probe: string) => {
      const answer = await fetch(`${ingest.operations}/health/${probe}`);
      return [answer.status, await answer.json()] as unknown[];
    };
    const starting = { status: 'starting', problems };
    expect(await answerOf('startup')).toEqual([503, starting]);
    const roles = { ingest: problems };
    expect(await answerOf('ready')).toEqual([503, { ...starting, roles, partitions: [] }]);
    expect(await answerOf('live')).toEqual([200, { status: 'ok', problems: [] }]);
    const { members } = (await instance.admin.describeGroups([instance.name])).groups[0]!;
    expect(members).toEqual([]);
    await instance.start('--roles', 'reconciliation');
    await until(() => ingest.errors.includes('"running: ingest"'), 'ingest runs');
    expect(await answerOf('startup')).toEqual([200, { status: 'ok', problems: [] }]);
    await until(async () => (await instance.reader.boards()).length > 0, 'boards are live');
    const file = String(instance.env['RANKLOG_BOARDS']);
    await writeFile(file, `${BOARDS}  late: { columns: [{ name: score }] }\n`);
    await instance.start('--roles', 'reconciliation');
    await instance.produce(['{"board":"late","playerId":"ada","delta":1}']);
    await instance.published(1);
    const { size } = await instance.reader.standings('late', { view: 'all', limit: 1 });
    expect(size).toBe(1);
  });
});

describe('status of a ranklog that does not run', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterAll(() => instance.remove());

  it('shows no lag after its group is gone, and what came since; --wait ends with 1 when time is up', async () => {
    const service = await instance.start();
    await instance.produce(['ada', 'bob', 'cyd', 'dan'].map((player) => event(player, '1')));
    await instance.run('status', '--wait', '60');
    const lag = 0;
    const partitions = [0, 1].map((partition) => expect.objectContaining({ partition, lag }));
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    await instance.admin.deleteGroups([instance.name]);
    const json = async () => JSON.parse(await instance.run('status', '--json')) as object;
    expect(await json()).toMatchObject({ partitions });
    const published = new KeySpace(instance.name).published(0);
    await instance.redis.del(published);
    expect(await json()).toMatchObject({ partitions });
    expect(await instance.run('status', '--wait', '1')).not.toContain('ranklog_partition_stopped');
    await instance.produce([event('ada', '2')]);
    const late = instance.spawn('status', '--wait', '1');
    expect(await late.ended).toBe(1);
    expect(late.output).toContain('the metric ranklog_partition_stopped');
    const again = await instance.start();
    await instance.run('status', '--wait', '60');
    const answer = await fetch(`${again.url}/v1/status`);
    expect(await answer.json()).toMatchObject({ partitions });
  });
});
