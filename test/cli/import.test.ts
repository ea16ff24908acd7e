import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Standing } from '#board-store';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';

const BOARDS = `
boards:
  zset: { columns: [{ name: score, decimals: 2 }] }
  laps: { columns: [{ name: laps }, { name: seconds, update: best, order: asc, decimals: 1 }], ties: latest, dimensions: [[], [region]] }
  killed: { columns: [{ name: score, min: -5 }] }
  countries: { columns: [{ name: score, update: best }], dimensions: [[], [country]] }
  halves: { columns: [{ name: score, decimals: 2 }] }
  floats: { columns: [{ name: deviation, update: latest, order: asc, decimals: 1 }], timeZone: Europe/Paris }
  daily: { columns: [{ name: score }], windows: [{ window: day, keep: 1d }] }
`;
const AT = '2026-11-20T00:00:00.000Z';
const LARGEST = Number.MAX_SAFE_INTEGER;

/**
 * An oracle for the order of a board: the columns as minor units in sort direction, the time, the
 * player id.
 */
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
    return { code, refusals: err, ...(JSON.parse(out) as Record<string, unknown>) };
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
      // a double holds 15 digits of any decimal, so larger numbers have to be whole to be told
      // exactly
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

    expect(await imported(...args, '--dry-run')).toMatchObject({ code: 0, toSend: 700 });
    expect(await imported(...args)).toMatchObject({ code: 0, rows: 700, sent: 700 });
    await applied();
    const expected = ranked(players).map(shown);
    expect(await standings('zset')).toEqual(expected);

    const length = await logLength();
    expect(await imported(...args)).toMatchObject({ code: 0, repeated: 700, sent: 0 });
    expect(await logLength()).toBe(length);
    const comparison = { compared: 700, different: 0, extra: 0 };
    expect(await imported(...args, '--compare')).toMatchObject({ code: 0, ...comparison });

    await instance.run('boards', 'rebuild', 'zset');
    expect(await standings('zset')).toEqual(expected);
  });

  const laps = (regions: readonly string[]) =>
    Array.from({ length: 300 }, (_, serial) => {
      const [count, tenths] = [whole(5) - 2, whole(4) - 1];
      return {
        playerId: `p, ${serial}`,
        better: [count, -tenths],
        columns: { laps: decimal(count, 0), seconds: decimal(tenths, 1) },
        reachedAt: whole(2) === 0 ? AT : '2026-11-19T00:00:00.000Z',
        region: regions[whole(regions.length)]!,
      };
    });
  type Laps = ReturnType<typeof laps>;
  const csvOf = (players: Laps) =>
    [
      'laps,playerId,seconds,occurredAt',
      ...players.map(
        ({ playerId, columns, reachedAt }) =>
          `${columns.laps},"${playerId}",${columns.seconds},${reachedAt === AT ? '' : reachedAt}`,
      ),
    ].join('\r\n');
  const ndjsonOf = (players: Laps) =>
    players
      .map(({ playerId, columns, region, reachedAt }) => {
        const attributes = region === 'eu' ? null : { region };
        const occurredAt = reachedAt === AT ? null : reachedAt;
        return JSON.stringify({ playerId, deltas: columns, attributes, occurredAt });
      })
      .join('\n\n');

  it.each([
    ['CSV', ['eu'], csvOf],
    ['NDJSON', ['eu', 'us, west'], ndjsonOf],
  ])(
    'makes events of %s, with several columns, times and attributes',
    async (format, regions, textOf) => {
      await instance.run('boards', 'rebuild', 'laps');
      const players = laps(regions).map((it) => ({ ...it, playerId: format + it.playerId }));
      const from = await file(`laps.${format}`, textOf(players));
      const args = ['laps', from, '--at', AT, '--id', format, '--attribute', 'region=eu'];
      expect(await imported(...args)).toMatchObject({ code: 0, sent: 300 });
      await applied();
      const of = (found: ReturnType<typeof shown>[]) =>
        found.filter(({ playerId }) => playerId.startsWith(format));
      expect(of(await standings('laps'))).toEqual(ranked(players, true).map(shown));
      const eu = players.filter(({ region }) => region === 'eu');
      expect(of(await standings('laps', 'all region=eu'))).toEqual(ranked(eu, true).map(shown));
      expect(await imported(...args)).toMatchObject({ code: 0, repeated: 300, sent: 0 });
    },
  );

  it('compares a file with the board, and refuses rows that differ from the log', async () => {
    const rows = Array.from({ length: 2_000 }, (_, serial) => `p-${serial},7\n`);
    const source = await file('killed', ['playerId,score\n', ...rows].join(''));
    expect(await imported('killed', source, '--at', AT)).toMatchObject({ code: 0, sent: 2_000 });
    await applied();
    const changed = await file('changed', 'playerId,score\np-1,8\nnew,1\n');
    const comparison = await ranklog('import', 'killed', changed, '--compare');
    expect(comparison.code).toBe(1);
    expect(comparison.out).toMatch(/^compared +2\ndifferent +2\nextra +1999$/m);
    expect(comparison.err).toBe('p-1: source 8, board 7\nnew: source 1, board not ranked\n');
    const refused = await file('refused', 'playerId,score\nada,x\n');
    const none = await ranklog('import', 'killed', refused, '--compare');
    expect(none.out).toMatch(/^compared +0\ndifferent +0\nextra +2000$/m);
    expect(await imported('killed', changed, '--at', AT)).toMatchObject({
      ...{ code: 1, refusals: expect.stringMatching(/^line 2: .* differs/), refused: 1, sent: 1 },
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
      const env = {
        ...own.env,
        RANKLOG_HTTP_PORT: '0',
        RANKLOG_OPERATIONS_PORT: '0',
        RANKLOG_LOG_LEVEL: 'error',
      };
      const run = spawnSync('bash', ['-c', head + script], { env, encoding: 'utf8' });
      expect(run.status === 0 ? '' : run.stderr).toBe('');
      expect(run.stdout).toMatch(/^refused +1\nrepeated +0\ntied +1\n/m);
      expect(run.stdout).toMatch(/^compared +3\ndifferent +0\nextra +0$/m);
    } finally {
      await own.remove();
    }
  });

  it('writes why a ZSET loses members, sends the others, and rounds on demand', async () => {
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
    expect(report).toMatchObject({ code: 1, rows: 10, refused: 8, tied: 1, toSend: 2 });
    const refusals = report.refusals.trimEnd().split('\n');
    expect(refusals.sort()).toEqual([
      expect.stringMatching(/^member "": INVALID_ID: /),
      expect.stringMatching(/^member "bell\\u0007": INVALID_ID: /),
      expect.stringMatching(/^member "huge": OUT_OF_RANGE: .*"9007199254740992"/),
      expect.stringMatching(/^member "infinite": INVALID_NUMBER: .*"Infinity"/),
      expect.stringMatching(/^member "thirds": TOO_MANY_DECIMALS: .*"0.3333"/),
      expect.stringMatching(/^member "tiny": INVALID_NUMBER: .*"1e-7"/),
      expect.stringMatching(/^member "x{129}": INVALID_ID: /),
      expect.stringMatching(/^member ".*": it is not UTF-8/),
    ]);
    expect(await logLength()).toBe(length);
    expect(await imported(...args)).toMatchObject({ code: 1, sent: 2 });
    const rounded = { code: 1, refused: 6, repeated: 0, toSend: 4 };
    const round = [...args.slice(0, -1), 'round', '--round', '--dry-run'];
    expect(await imported(...round)).toMatchObject(rounded);
  });

  it('rounds the scores of a ZSET as those of a file, half away from zero', async () => {
    // The double next to 1.005 is less than 1.005.
    const source = await zset('halves', [
      ['above', '1.005'],
      ['below', '-1.005'],
    ]);
    await imported('halves', ...source, '--at', AT, '--round');
    await applied();
    const scores = (await standings('halves')).map(({ columns }) => columns['score']);
    expect(scores).toEqual(['1.01', '-1.01']);
    const rows = await file('halves.csv', 'playerId,score\nabove,1.005\nbelow,-1.005\n');
    const compare = ['--at', AT, '--round', '--compare'];
    expect(await imported('halves', rows, ...compare)).toMatchObject({ code: 0, compared: 2 });
  });

  it('names bad rows by their line', async () => {
    const rows = ['ada,1', 'bob,-6', ',1', 'cyd,1e3', 'dan,1,2', 'a"b,2', '"eve,1', '', '"f"g,1'];
    const csv = await file(
      'bad.csv',
      Buffer.concat([
        Buffer.from(`\uFEFFplayerId,score\n${rows.join('\n')}\n`),
        Buffer.of(0x66, 0x80, 0x2c, 0x31, 0x0a),
      ]),
    );
    const dryRun = ['--id', 'bad', '--dry-run'];
    const bad = await imported('killed', csv, '--at', AT, ...dryRun);
    expect(bad).toMatchObject({ code: 1, rows: 9, refused: 8, repeated: 0, toSend: 1 });
    expect(bad.refusals.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^line 3: OUT_OF_BOUNDS: .* -6 is below min -5/),
      expect.stringMatching(/^line 4: INVALID_ID: playerId is missing/),
      expect.stringMatching(/^line 5: INVALID_NUMBER: /),
      'line 6: the row has 3 cells, the header 2',
      expect.stringMatching(/^line 7: a quote is inside a cell/),
      expect.stringMatching(/^line 8: a quoted cell does not end on this line/),
      expect.stringMatching(/^line 10: text follows a closing quote/),
      expect.stringMatching(/^line 11: the line is not valid UTF-8; .*iconv/),
    ]);
    const json = await file(
      'bad.ndjson',
      [
        '{"playerId":"ada","delta":12345678901234567890}',
        '{"board":"zset","playerId":"bob","delta":1e3}',
        '[]',
      ].join('\n'),
    );
    const { refusals } = await imported('killed', json, ...dryRun);
    expect(refusals.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^line 1: INVALID_NUMBER: /),
      expect.stringMatching(/^line 2: INVALID_NUMBER: /),
      expect.stringMatching(/^line 3: NOT_AN_OBJECT: /),
    ]);
  });

  it('refuses rows that no view would show, rows of other boards, and rows without a time', async () => {
    const now = new Date().toISOString();
    await instance.produce([`{"board":"daily","playerId":"ada","delta":1,"occurredAt":"${now}"}`]);
    await applied();
    const times = [{ occurredAt: '2020-01-01T00:00:00Z' }, { occurredAt: now }, {}];
    const rows = [...times, { occurredAt: now, board: 'zset' }].map((fields, serial) =>
      JSON.stringify({ playerId: `p-${serial}`, delta: 1, ...fields }),
    );
    const { refusals, ...counts } = await imported(
      'daily',
      await file('rows', rows.join('\n')),
      '--dry-run',
    );
    expect(counts).toMatchObject({ code: 1, refused: 3, toSend: 1 });
    expect(refusals.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^line 1: no view/),
      expect.stringMatching(/^line 3: .*--at/),
      expect.stringMatching(/^line 4: it is of board "zset"/),
    ]);
  });

  it.each([
    [['arena', '/dev/null'], 1, 'there is no board "arena"'],
    [['zset', '/nowhere.csv'], 2, "can't read /nowhere.csv"],
    [['zset', 'redis://127.0.0.1'], 2, 'a Redis needs --key'],
  ])('%j ends with %i and says why', async (args, code, word) => {
    expect(await ranklog('import', ...args)).toMatchObject({
      code,
      err: expect.stringContaining(word),
    });
  });

  it('sends nothing of a file with several rows of a player, and says what to do', async () => {
    const length = await logLength();
    const rows = ['ann,1', 'bob,2', 'ann,1', 'bob,3', 'cyd,4'];
    const csv = await file('wins.csv', ['playerId,score', ...rows].join('\n'));
    for (const more of [[], ['--dry-run'], ['--compare']]) {
      const { code, out, err } = await ranklog('import', 'killed', csv, '--at', AT, ...more);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(
        /^line 4: player "ann" has an earlier row\nline 5: player "bob" has an earlier row\nranklog: there are several rows of a player \(2 rows too many\), and nothing was sent: .*"ranklog produce"/,
      );
    }
    const lines = ['zset', 'killed', 'killed'].map((board) =>
      JSON.stringify({ board, playerId: 'ann', delta: 1 }),
    );
    const { err } = await ranklog('import', 'killed', await file('wins', lines.join('\n')));
    expect(err).toMatch(/^line 3: player "ann" has an earlier row\n.*\(1 rows too many\)/);
    expect(await logLength()).toBe(length);
  });

  it('takes the columns of a CSV that are dimensions of the board as attributes', async () => {
    const rows = ['playerId,score,country', 'ann,3,se', 'bob,4,no', 'cyd,5,'];
    const args = ['countries', await file('countries.csv', rows.join('\n')), '--at', AT];
    const defaults = ['--attribute', 'country=dk'];
    expect(await imported(...args, ...defaults)).toMatchObject({ code: 0, sent: 3 });
    await applied();
    const players = async (country: string) =>
      (await standings('countries', `all country=${country}`)).map(({ playerId }) => playerId);
    expect([await players('se'), await players('no'), await players('dk')]).toEqual([
      ...[['ann'], ['bob'], ['cyd']],
    ]);
  });

  it('rounds the numbers of a file on demand', async () => {
    const rows = ['ann,34.699999999999996', 'bob,1302.0', 'cyd,1e-07'];
    const csv = await file('floats.csv', ['playerId,deviation', ...rows].join('\n'));
    const args = ['floats', csv, '--at', '2026-11-20T01:00']; // AT in Paris
    expect(await imported(...args, '--dry-run')).toMatchObject({ code: 1, refused: 2 });
    expect(await imported(...args, '--round')).toMatchObject({ code: 0, sent: 3 });
    await applied();
    const columns = (await standings('floats')).map((it) => [it.playerId, it.columns['deviation']]);
    expect(columns).toEqual([
      ['cyd', '0.0'],
      ['ann', '34.7'],
      ['bob', '1302.0'],
    ]);
    expect(new Set((await standings('floats')).map(({ reachedAt }) => reachedAt))).toEqual(
      new Set([AT]),
    );
    expect(await imported(...args, '--round', '--compare')).toMatchObject({ code: 0, compared: 3 });
  });

  it('needs no right at the other Redis but to read the sorted set', async () => {
    const [url = '', , key = ''] = await zset('limited', [['ann', '1']]);
    const user = instance.name;
    await instance.redis.acl('SETUSER', user, 'on', '>pw', `~${key}`, '+ping', '+type', '+zscan');
    try {
      const other = Object.assign(new URL(url), { username: user, password: 'pw' });
      const args = ['zset', other.href, '--key', key, '--at', AT, '--dry-run'];
      expect(await imported(...args)).toMatchObject({ code: 0 });
    } finally {
      await instance.redis.acl('DELUSER', user);
    }
  });

  it('refuses a file without a header, and a key of another type', async () => {
    const refused = async (...args: string[]) => (await ranklog('import', 'zset', ...args)).err;
    expect(await refused(await file('a', 'ada,1\n'))).toContain('the first line is neither');
    const [url = ''] = await zset('c', [['a', '1']]);
    expect(await refused(url, '--key', `${instance.name}:none`)).toContain(
      'is none; name a sorted set',
    );
  });
});
