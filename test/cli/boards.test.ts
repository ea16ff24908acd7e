import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { boardsFileSchema, parseBoardsFile, resolveEvent } from '#board';
import { decodeText } from '#contracts';
import { StoreFixture } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';

const CLI = path.resolve('dist/cli/main.js');
/** Longer than a command that fails waits before it ends the process. */
const SLOW_MS = 1_000;
const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-boards-'));
const { redis, newKeys, close } = openTestRedis();
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await close();
});

function file(name: string, text: string): string {
  const written = path.join(folder, name);
  writeFileSync(written, text);
  return written;
}

const BOARDS = `boards:
  arena:
    columns: [{ name: kills, min: 0 }, { name: ratio, update: best, decimals: 2 }]
    windows: [all, { window: day, keep: 30d }, { season: s, from: 2026-01-01, to: 2027-01-01 }]
    timeZone: Europe/Paris
    dimensions: [[], [guild]]
    publish: { windows: [day, all] }
  plain:
    columns: [{ name: points }]
`;
const boards = file('boards.yaml', BOARDS);
const bad = file(
  'bad.yaml',
  'boards:\n  arena:\n    columns: [{ name: x, order: up }]\n    tyes: none\n    timeZone: europe/paris\n',
);
const EVENT = JSON.stringify({
  board: 'arena',
  playerId: 'ada',
  deltas: { kills: 3, ratio: '-0.50' },
  occurredAt: '2026-11-20T23:30:00Z',
  attributes: { guild: ['red', 'a b'] },
});

/** Runs a command that can reach neither Kafka nor Redis; RANKLOG_BOARDS names the boards file. */
function ranklog(args: readonly string[], input = '') {
  const nowhere = { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };
  const run = spawnSync(process.execPath, [CLI, 'boards', ...args], {
    env: { ...process.env, ...nowhere, RANKLOG_BOARDS: boards },
    input,
    encoding: 'utf8',
  });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('boards check', () => {
  it('says that a file has no problems; by default, checks the file that RANKLOG_BOARDS names', () => {
    const good = { code: 0, out: `${boards}: no problems; boards: arena, plain\n`, err: '' };
    expect(ranklog(['check'])).toEqual(good);
    expect(ranklog(['check', boards])).toEqual(good);
  });

  it('reports all problems of all files, and has exit code 1', () => {
    const { code, out } = ranklog(['check', bad, boards]);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      `${bad}:3: board "arena", columns[0].order: "up" is not allowed; use desc, asc`,
      expect.stringMatching(
        /^.*bad\.yaml:4: board "arena": unknown field "tyes"; .*; did you mean ties\?$/,
      ),
      expect.stringMatching(
        /^.*bad\.yaml:5: board "arena", timeZone: "europe\/paris" is not a time zone; .*; did you mean Europe\/Paris\?$/,
      ),
      `${boards}: no problems; boards: arena, plain`,
      '',
    ]);
  });

  it('prints the problems for programs with --json', () => {
    const { code, out } = ranklog(['check', boards, bad, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual([
      { file: boards, boards: ['arena', 'plain'], problems: [] },
      {
        file: bad,
        boards: [],
        problems: expect.arrayContaining([
          {
            file: bad,
            line: 3,
            board: 'arena',
            field: 'columns[0].order',
            reason: expect.any(String),
          },
        ]),
      },
    ]);
  });

  it('writes its whole answer to a slow reader, although it ends with 1', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `bad-${index}`);
    const many = names.map((name) => `  ${name}: { columns: [{ name: x, order: up }] }\n`);
    const args = [CLI, 'boards', 'check', file('many.yaml', `boards:\n${many.join('')}`), '--json'];
    const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(command, 'exit');
    await once(command.stdout, 'readable');
    // The command waits for its reader, or ends without
    await Promise.race([ended, delay(SLOW_MS)]);
    const [report] = JSON.parse(await text(command.stdout)) as [{ problems: unknown[] }];
    expect(report.problems).toHaveLength(names.length);
    expect(await ended).toEqual([1, null]);
  });

  it('has exit code 2 for a file that is not there', () => {
    const { code, err } = ranklog(['check', boards, '/nowhere.yaml']);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("/nowhere.yaml can't be read"),
    });
  });
});

describe('boards show', () => {
  it('prints a boards file with every default, which defines the same boards', () => {
    const { code, out } = ranklog(['show']);
    expect(code).toBe(0);
    expect(out).toContain('    maxAhead: 1h\n');
    expect(parseBoardsFile(out, 'shown')).toEqual(parseBoardsFile(BOARDS, 'boards'));
    const { out: json } = ranklog(['show', '--json', '--board', 'plain']);
    expect(parseBoardsFile(json, 'shown')).toEqual(parseBoardsFile(BOARDS, 'boards').slice(1));
  });

  it('names the keys that the event creates in Redis', async () => {
    const keys = newKeys();
    const args = ['show', '--json', '--event', '-', '--at', '2026-11-21T00:00:00Z'];
    const { code, out } = ranklog(args, EVENT);
    expect(code).toBe(0);
    const { views, columns } = JSON.parse(out) as {
      views: {
        view: string;
        expiresAt: string | null;
        keys: { ranking: string; players: string };
      }[];
      columns: object;
    };
    expect(columns).toEqual({ kills: '3', ratio: '-0.50' });

    const [definition] = parseBoardsFile(BOARDS, 'boards');
    const decoded = decodeText(EVENT);
    if (definition === undefined || !decoded.ok) throw new Error('the event is good');
    const resolved = resolveEvent(definition, decoded.event, decoded.event.occurredAt ?? 0);
    if (!resolved.ok) throw new Error('the event is good');
    const fixture = await new StoreFixture(redis, keys).register(definition);
    await fixture.apply([resolved.event]);

    const real = (key: string) =>
      key.replaceAll('ranklog:', `${keys.prefix}:`).replace('GENERATION', fixture.live.generation);
    const named = views.flatMap((view) => [real(view.keys.ranking), real(view.keys.players)]);
    const all = await redis.keys(`${keys.prefix}:*`);
    expect(all.filter((key) => /:(ranking|players):/.test(key)).sort()).toEqual(named.sort());
    for (const { view, expiresAt } of views)
      expect([view, await redis.zscore(keys.expiries(0, fixture.live.generation), view)]).toEqual([
        view,
        expiresAt === null ? null : String(Date.parse(expiresAt)),
      ]);
  });

  it('prints the columns, views and keys of an event, and for each view whether its results are published', () => {
    const event = file('event.json', EVENT);
    const { out } = ranklog(['show', '--event', `@${event}`, '--at', '2026-11-21T00:30']);
    expect(out).toContain('arena (shard 0): ada at 2026-11-20T23:30:00.000Z\n');
    expect(out).toMatch(/^ratio +-0\.50$/m);
    expect(out).toMatch(/^day:2026-11-21 guild=a%20b +yes +2026-12-21T23:00:00\.000Z$/m);
    expect(out).toMatch(/^season:s +no +never$/m);
    expect(out).toContain(
      '\nranklog:4:{ranklog:0}:GENERATION:players:day:2026-11-21 guild=a%20b\n',
    );
  });

  it.each([
    [['--board', 'aren'], 1, 'it has arena, plain; did you mean arena?'],
    [['--event', '@/nowhere'], 2, "can't read /nowhere"],
    [['--at', 'noon'], 2, 'use a date, or a time such as'],
    [['/nowhere.yaml'], 2, "/nowhere.yaml can't be read"],
    [[bad], 2, 'did you mean ties?'],
  ])('%j has exit code %i, and the error says: %s', (args, code, word) => {
    const run = ranklog(['show', ...args]);
    expect(run).toEqual({ code, out: '', err: expect.stringContaining(word) });
  });

  it('has exit code 1 for an event that would be a dead letter', () => {
    const { code, out } = ranklog(['show', '--event', '{"board":"plain","playerId":"ada"}']);
    expect(code).toBe(1);
    expect(out).toMatch(/^dead letter DELTA_OR_DELTAS: .*\n.*Send one of them\.\n$/);
  });
});

describe('boards schema', () => {
  it('prints the schema', () => {
    const { code, out } = ranklog(['schema']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(boardsFileSchema())));
  });
});
