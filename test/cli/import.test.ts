import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace, type Standing } from '#board-store';
import { decimalOf } from '../../src/cli/import/rows.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';

const BOARDS = `
boards:
  zset: { columns: [{ name: score, decimals: 2 }] }
  laps: { columns: [{ name: laps }, { name: seconds, update: best, order: asc, decimals: 1 }], ties: latest, dimensions: [[], [region]] }
  killed: { columns: [{ name: score, min: -5 }] }
  daily: { columns: [{ name: score }], windows: [{ window: day, keep: 1d }] }
`;
const AT = '2026-11-20T00:00:00.000Z';
const LARGEST = Number.MAX_SAFE_INTEGER;

/** An oracle for the order of a board: the columns as minor units in sort direction, the time, the player id. */
interface Player {
  readonly playerId: string;
  readonly better: readonly number[];
  readonly columns: Readonly<Record<string, string>>;
  readonly reachedAt: string;
}

function ranked(players: readonly Player[], latestFirst = false): Player[] {
  const times = latestFirst ? -1 : 1;
  return [...players].sort((a, b) => {
    const column = a.better.findIndex((value, index) => value !== b.better[index]);
    if (column >= 0) return a.better[column]! > b.better[column]! ? -1 : 1;
    if (a.reachedAt !== b.reachedAt) return a.reachedAt < b.reachedAt ? -times : times;
    return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
  });
}

const shown = ({ playerId, columns, reachedAt }: Player | Standing) => ({
  ...{ playerId, columns: { ...columns }, reachedAt },
});

/** An independent reading of minor units: by moving the point. */
function decimal(minor: number, decimals: number): string {
  const [whole, rest] = [BigInt(minor) / 10n ** BigInt(decimals), Math.abs(minor % 10 ** decimals)];
  const sign = minor < 0 && whole === 0n ? '-' : '';
  return `${sign}${whole}${decimals === 0 ? '' : `.${String(rest).padStart(decimals, '0')}`}`;
}

describe('ranklog import', () => {
  let instance: TestInstance;
  const { random, seed } = seededRandom();
  const whole = (below: number) => Math.floor(random() * below);

  beforeAll(async () => {
    process.stderr.write(`test/cli/import: RANKLOG_TEST_SEED=${seed}\n`);
    instance = await TestInstance.create(BOARDS, { partitions: 3 });
    await instance.start();
  });
  afterAll(() => instance.remove());

  const ended = async (child: RanklogProcess) => {
    const code = await child.ended;
    return { code, out: child.output, err: child.errors };
  };
  const ranklog = (...args: string[]) => ended(instance.spawn(...args));
  const imported = async (...args: string[]) => {
    const { code, out, err } = await ranklog('import', ...args, '--json');
    if (out === '') throw new Error(err);
    return { code, ...(JSON.parse(out) as Record<string, unknown>) };
  };
  const file = async (name: string, text: string | Buffer) => {
    const at = path.join(tmpdir(), `${instance.name}-${name}`);
    await writeFile(at, text);
    return at;
  };
  const applied = () => instance.run('status', '--wait', '60');
  const logLength = async () => {
    const ends = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    return ends.reduce((sum, { offset }) => sum + Number(offset), 0);
  };
  const standings = async (board: string, view = 'all') => {
    const { entries } = await instance.reader.standings(board, { view, limit: 1_000 });
    return entries.map(shown);
  };
  const zset = async (key: string, members: readonly (readonly [string | Buffer, string])[]) => {
    const name = `${instance.name}:test:${key}`; // removed with the instance
    await instance.redis.zadd(name, ...members.flatMap(([member, score]) => [score, member]));
    return [process.env['REDIS_URL'] ?? '', '--key', name];
  };

  it('makes events of a ZSET, exactly; a second run changes nothing, the comparison finds no difference, and a rebuild keeps all', async () => {
    const players = Array.from({ length: 700 }, (_, serial) => {
      const most = [20, 1_000, 2 ** 40, LARGEST][whole(4)]!;
      const minor = (whole(2) === 0 ? -1 : 1) * whole(most);
      // a double holds 15 digits of any decimal, so larger numbers have to be whole to be told exactly
      const score = Math.abs(minor) < 1e15 ? minor : minor - (minor % 100);
      const columns = { score: decimal(score, 2) };
      const playerId = `${['p', 'é', '😀 "x,'][whole(3)]}${serial}`;
      return { playerId, better: [score], columns, reachedAt: AT };
    });
    const source = await zset(
      'scores',
      players.map((it) => [it.playerId, it.columns.score]),
    );
    const args = ['zset', ...source, '--at', AT];

    expect(await imported(...args, '--dry-run')).toMatchObject({ code: 0, sent: 0, toSend: 700 });
    expect(await imported(...args)).toMatchObject({ code: 0, rows: 700, sent: 700 });
    await applied();
    const expected = ranked(players).map(shown);
    expect(await standings('zset')).toEqual(expected);

    const length = await logLength();
    expect(await imported(...args)).toMatchObject({ code: 0, importedBefore: 700, sent: 0 });
    expect(await logLength()).toBe(length);
    const comparison = { compared: 700, different: 0, extra: 0 };
    expect(await imported(...args, '--compare')).toMatchObject({ code: 0, ...comparison });

    await instance.run('boards', 'rebuild', 'zset');
    expect(await standings('zset')).toEqual(expected);
  });

  const laps = () =>
    Array.from({ length: 300 }, (_, serial) => {
      const [count, tenths] = [whole(5) - 2, whole(4) - 1];
      return {
        playerId: `p ${serial}`,
        better: [count, -tenths],
        columns: { laps: decimal(count, 0), seconds: decimal(tenths, 1) },
        reachedAt: whole(2) === 0 ? AT : '2026-11-19T00:00:00.000Z',
        region: ['eu', 'us, west'][whole(2)]!,
      };
    });

  it.each([
    [
      'CSV',
      (players: ReturnType<typeof laps>) =>
        [
          'laps,playerId,attributes.region,seconds,occurredAt',
          ...players.map(
            ({ playerId, columns, region, reachedAt }) =>
              `${columns.laps},${playerId},"${region}",${columns.seconds},${reachedAt === AT ? '' : reachedAt}`,
          ),
        ].join('\r\n'),
    ],
    [
      'NDJSON',
      (players: ReturnType<typeof laps>) =>
        players
          .map(({ playerId, columns, region, reachedAt }) =>
            JSON.stringify({
              ...{ playerId, deltas: columns, attributes: { region } },
              ...(reachedAt === AT ? {} : { occurredAt: reachedAt }),
            }),
          )
          .join('\n\n'),
    ],
  ])('makes events of %s, with several columns, times and attributes', async (format, textOf) => {
    await instance.run('boards', 'rebuild', 'laps');
    const players = laps().map((it) => ({ ...it, playerId: `${format} ${it.playerId}` }));
    const from = await file(`laps.${format}`, textOf(players));
    const args = ['laps', from, '--at', AT, '--id', format];
    expect(await imported(...args)).toMatchObject({ code: 0, sent: 300 });
    await applied();
    const of = (found: ReturnType<typeof shown>[]) =>
      found.filter(({ playerId }) => playerId.startsWith(format));
    expect(of(await standings('laps'))).toEqual(ranked(players, true).map(shown));
    const eu = players.filter(({ region }) => region === 'eu');
    expect(of(await standings('laps', 'all region=eu'))).toEqual(ranked(eu, true).map(shown));
    expect(await imported(...args)).toMatchObject({ code: 0, importedBefore: 300, sent: 0 });
  });

  it('sends the rest when it is repeated after it was killed, and never two imports into a board at a time', async () => {
    const players = Array.from({ length: 2_000 }, (_, serial) => `p-${serial}`);
    const source = await file(
      'killed',
      ['playerId,delta', ...players.map((id) => `${id},7`)].join('\n'),
    );
    const before = await logLength();
    const sent = async () => (await logLength()) - before;
    const first = instance.spawn('import', 'killed', source, '--at', AT, '--rate', '100');
    await until(async () => (await sent()) > 150, 'some events are sent');
    const second = await ranklog('import', 'killed', source, '--at', AT);
    expect([second.code, second.err]).toEqual([3, expect.stringContaining(`:${first.pid}`)]);
    first.kill('SIGKILL');
    await first.ended;
    const done = await sent();
    expect(done).toBeLessThan(2_000);
    await instance.redis.del(new KeySpace(instance.name).lease(0, 'killed (import)')); // as if it had expired
    expect(await imported('killed', source, '--at', AT)).toMatchObject({
      code: 0,
      importedBefore: done,
      sent: 2_000 - done,
    });
    await applied();
    const { size, entries } = await instance.reader.standings('killed', { limit: 1_000 });
    expect([size, new Set(entries.map(({ columns }) => columns['score']))]).toEqual([
      2_000,
      new Set(['7']),
    ]);
    expect(await sent()).toBe(2_000);

    const changed = await file('killed', 'playerId,delta\np-1,8\nnew,1\n');
    const comparison = await ranklog('import', 'killed', changed, '--compare');
    expect(comparison.code).toBe(1);
    expect(comparison.out).toMatch(/^extra +1999$/m);
    expect(comparison.out).toMatch(/^new +1 +not ranked$/m);
    expect(comparison.out).toMatch(/^p-1 +8 +7$/m);
    expect(await imported('killed', changed, '--at', AT)).toMatchObject({
      ...{ code: 1, importedBefore: 1, changedSince: 1, sent: 1 },
    });
  });

  it('moves a board in as docs/migrate.md shows, command by command', async () => {
    const page = await readFile('docs/migrate.md', 'utf8');
    const blocks = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    const own = await TestInstance.create('boards: {}');
    try {
      const script = blocks
        .join('')
        .replace(/^export .*/, '')
        .replace(/^ranklog start &$/m, 'ranklog start 2> /dev/null &\ntrap "kill %1" EXIT')
        .replaceAll(/\b(highscores|week47)\b(?!-)/g, `${own.name}:$1`)
        .replace(`--id ${own.name}:`, '--id ');
      const head = `set -m\nset -e\nranklog() { ${process.execPath} dist/cli/main.js "$@"; }\n`;
      const env = { ...own.env, RANKLOG_HTTP_PORT: '0', RANKLOG_LOG_LEVEL: 'error' };
      const run = spawnSync('bash', ['-c', head + script], { env, encoding: 'utf8' });
      expect(run.status === 0 ? '' : run.stderr).toBe('');
      expect(run.stdout).toMatch(/^refused +1\ntied +2\n/m);
      expect(run.stdout).toMatch(/^compared +3\nextra +0\nrefused +0\ndifferent +0$/m);
    } finally {
      await own.remove();
    }
  });

  it('reports what a ZSET would lose, sends nothing until it is told to skip that, and rounds on demand', async () => {
    const source = await zset('lossy', [
      ['binary', '0.1'],
      ['thirds', '0.3333'],
      ['tiny', '1e-7'],
      ['huge', '9007199254740993'],
      ['infinite', 'inf'],
      ['same', '0.1'],
      ['', '1'],
      ['x'.repeat(129), '1'],
      ['bell\u0007', '1'],
      [Buffer.of(0x80, 0xff), '1'],
    ]);
    const args = ['zset', ...source, '--at', AT, '--id', 'lossy'];
    const length = await logLength();
    const report = await imported(...args, '--dry-run');
    expect(report).toMatchObject({
      ...{ code: 1, rows: 10, refused: 8, tied: 2, sent: 0, toSend: 2 },
      problems: {
        TOO_MANY_DECIMALS: {
          rows: 2,
          examples: [expect.stringContaining('0.0000001'), expect.stringContaining('"0.3333"')],
        },
        OUT_OF_RANGE: { rows: 1, examples: [expect.stringContaining('"9007199254740992"')] },
        INVALID_NUMBER: { rows: 1, examples: [expect.stringContaining('member "infinite"')] },
        INVALID_ID: { rows: 3 },
        UNREADABLE: { rows: 1, examples: [expect.stringContaining('not valid UTF-8')] },
      },
    });
    expect(await imported(...args)).toMatchObject({ code: 1, sent: 0, toSend: 2 });
    expect(await logLength()).toBe(length);
    expect(await imported(...args, '--skip-bad')).toMatchObject({ code: 1, sent: 2 });
    const rounded = { code: 1, refused: 6, importedBefore: 0, toSend: 4 };
    const round = [...args.slice(0, -1), 'round', '--round', '--dry-run'];
    expect(await imported(...round)).toMatchObject(rounded);
  });

  it('names bad rows by their line', async () => {
    const rows = ['ada,1', 'bob,-6', ',1', 'cyd,1e3', 'dan,1,2', 'ada,2', '"eve,1', '', 'ada,1'];
    const csv = await file(
      'bad.csv',
      Buffer.concat([
        Buffer.from(`playerId,score\n${rows.join('\n')}\n`),
        Buffer.of(0x66, 0x80, 0x2c, 0x31, 0x0a),
      ]),
    );
    expect(await imported('killed', csv, '--at', AT, '--id', 'bad', '--dry-run')).toMatchObject({
      ...{ code: 1, rows: 9, refused: 7, toSend: 1 },
      problems: {
        OUT_OF_BOUNDS: { examples: [expect.stringMatching(/^line 3: .* -6 is below min -5/)] },
        INVALID_ID: { examples: [expect.stringMatching(/^line 4: playerId is missing/)] },
        INVALID_NUMBER: { examples: [expect.stringMatching(/^line 5: /)] },
        UNREADABLE: {
          examples: [
            'line 6: it has 3 cells, and the header has 2',
            expect.stringMatching(/^line 8: .*Quote Not Closed/),
            'line 11: it is not valid UTF-8',
          ],
        },
        REPEATED_PLAYER: { examples: [expect.stringMatching(/^line 7: /)] },
      },
    });
    const json = await file(
      'bad.ndjson',
      '{"playerId":"ada","delta":12345678901234567890}\n{"board":"zset","playerId":"bob","delta":1}\n[]\n',
    );
    expect(await imported('killed', json, '--at', AT, '--id', 'bad', '--dry-run')).toMatchObject({
      problems: {
        INVALID_NUMBER: { rows: 1 },
        OTHER_BOARD: { rows: 1 },
        NOT_AN_OBJECT: { rows: 1 },
      },
    });
  });

  it('refuses rows whose views have all expired', async () => {
    const now = new Date().toISOString();
    await instance.produce([`{"board":"daily","playerId":"ada","delta":1,"occurredAt":"${now}"}`]);
    await applied();
    const rows = ['old,1,2020-01-01T00:00:00Z', `new,1,${now}`];
    const csv = await file('expired', ['playerId,score,occurredAt', ...rows].join('\n'));
    expect(await imported('daily', csv, '--dry-run')).toMatchObject({
      ...{ code: 1, toSend: 1 },
      problems: { WINDOW_EXPIRED: { rows: 1, examples: [expect.stringMatching(/^line 2: /)] } },
    });
  });

  it.each([
    [['arena', 'x.csv'], 1, 'there is no board "arena"'],
    [['zset', '/nowhere.csv'], 2, "can't read /nowhere.csv"],
    [['zset', 'redis://127.0.0.1'], 2, 'a Redis needs --key'],
    [['zset', '/dev/null', '--id', 'a b'], 2, 'use 1 to 64 letters'],
  ])('%j ends with %i and says why', async (args, code, word) => {
    expect(await ranklog('import', ...args)).toMatchObject({
      code,
      err: expect.stringContaining(word),
    });
  });

  it('refuses a file without a header, rows without a time, and a key of another type', async () => {
    const refused = async (...args: string[]) => (await ranklog('import', 'zset', ...args)).err;
    expect(await refused(await file('a', 'ada,1\n'))).toContain('the first line is neither');
    expect(await refused(await file('b', '{"playerId":"ada","delta":1}'))).toContain(
      'line 1 has no time',
    );
    const [url = ''] = await zset('c', [['a', '1']]);
    expect(await refused(url, '--key', `${instance.name}:none`)).toContain(
      'is none; name a sorted set',
    );
  });

  it('writes any double as the shortest decimal that is the same double', () => {
    const bits = new DataView(new ArrayBuffer(8));
    for (let run = 0; run < 20_000; run++) {
      bits.setUint32(0, whole(2 ** 32));
      bits.setUint32(4, whole(2 ** 32));
      const double =
        run % 2 === 0 ? bits.getFloat64(0) : (whole(2 ** 40) - 2 ** 39) / 10 ** whole(25);
      if (!Number.isFinite(double)) continue;
      const text = decimalOf(double.toPrecision(17)); // as Redis writes it
      expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Number(text)).toBe(double + 0 === 0 ? 0 : double);
    }
  });
});
