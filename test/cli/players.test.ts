import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { formatTime } from '#contracts';
import { logRanges } from '#kafka-batch';
import { TestInstance, type RanklogProcess } from '../support/instance.js';

const BOARDS = `boards:
  arena: { columns: [{ name: points }], windows: [all, day], deduplicate: 24h }
  cup: { columns: [{ name: points }] }
`;

interface Answer {
  readonly sent: readonly Sent[];
  readonly toSend: readonly { board: string; playerId: string }[];
  readonly already: readonly { board: string; playerId: string; kind: string }[];
}
interface Sent {
  readonly board: string;
  readonly playerId: string;
  readonly partition: number;
  readonly offset: number;
  readonly counts: boolean | null;
}

describe('ranklog players', () => {
  let instance: TestInstance;
  let service: RanklogProcess;

  const event = (board: string, playerId: string, delta: number) =>
    JSON.stringify({ board, playerId, delta, occurredAt: formatTime(Date.now()) });

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    service = await instance.start();
    await send(
      ...['ada', 'bob', 'cyd', 'dan'].map((player, index) => event('arena', player, 10 - index)),
      event('cup', 'ada', 3),
      event('cup', 'bob', 4),
    );
  });
  afterAll(() => instance.remove());

  async function players(...args: string[]) {
    const child = instance.spawn('players', ...args);
    return { code: await child.ended, out: child.output, err: child.errors };
  }
  async function send(...lines: string[]) {
    await instance.produce(lines);
    const log = await logRanges(instance.kafka, instance.topics.scoreEvents);
    await instance.published([...log.values()].reduce((sum, { end }) => sum + end, 0));
  }
  const json = async (...args: string[]) =>
    JSON.parse((await players(...args, '--json')).out) as Answer;
  const ranking = async (board = 'arena') => {
    const { entries } = await instance.reader.standings(board, { limit: 100 });
    return entries.map(({ playerId }) => playerId).join(' ');
  };
  const at = async (playerId: string) => {
    const entry = await instance.reader.ban('arena', playerId);
    return `${entry?.partition}/${entry?.offset}`;
  };

  it('bans a player, who says so, and brings the player back with all scores', async () => {
    const banned = await players('ban', 'arena', 'ada', '--reason', 'speed hack');
    expect(banned).toMatchObject({ code: 0, err: expect.not.stringContaining('score') });
    expect(banned.out).toMatch(/^record +board +player\n/);
    expect(banned.out).toContain(`\n${await at('ada')} `);
    expect(banned.out).toMatch(/\n\n1 record\(s\) applied\n$/);
    expect(await ranking()).toBe('bob cyd dan');
    expect(await ranking('cup')).toBe('bob ada');
    await send(event('arena', 'ada', 5));

    const entry = await instance.reader.ban('arena', 'ada');
    const by = userInfo().username;
    expect(entry).toMatchObject({ kind: 'banned', reason: 'speed hack', by });
    const [shown, again] = await Promise.all([
      players('list', 'arena', 'ada'),
      players('ban', 'arena', 'ada'),
    ]);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain(`by ${by} ("speed hack"), record ${await at('ada')}\n`);
    expect(shown.out).toMatch(/^all +15 +20/m);
    expect(shown.out).toMatch(/^day:.* +15 +20/m);

    expect(again.code).toBe(0);
    const standing = `ada on arena: already banned at ${formatTime(entry!.time)} by ${by} ("speed hack")`;
    expect(again.out).toContain(`nothing to do: ${standing}, record ${await at('ada')}\n`);
    expect(again.out).toContain('to change a reason, unban the player and ban again\n');
    const unbanned = await players('unban', 'arena', 'ada', '--by', 'mod-2');
    expect(unbanned).toMatchObject({ code: 0 });
    expect(await ranking()).toBe('ada bob cyd dan');
    const twice = await players('unban', 'arena', 'ada');
    expect(twice.code).toBe(0);
    expect(twice.out).toMatch(
      /^nothing to do: not banned: ada on arena\nA ban that was sent a moment ago /,
    );
  });

  it('explain shows bans and unbans, which of them counts, and why a player has no place', async () => {
    await players('ban', 'arena', 'ada', '--by', 'mod-3');
    const explained = instance.spawn('explain', 'arena', 'ada');
    expect(await explained.ended).toBe(1);
    const { output } = explained;
    expect(output).toContain('ada on arena, all: not ranked\nbanned at 20');
    expect(output).toMatch(/ - +ban by .* \("speed hack"\): a later one counts$/m);
    expect(output).toMatch(/ - +unban by mod-2: a later one counts$/m);
    expect(output).toMatch(/ - +ban by mod-3: counts$/m);
    expect(output).toContain('5 records of the player in partition');
    expect(output).toMatch(/ 10 +kept, not ranked$/m);
    expect(output).not.toContain('do not explain');
    const rank = instance.spawn('rank', 'arena', 'ada');
    expect(await rank.ended).toBe(1);
    expect(rank.output).toMatch(/^ada is not ranked on arena: banned at 20.* by mod-3, record /);
    await players('unban', 'arena', 'ada');
    expect(await instance.run('explain', 'arena', 'ada')).toMatch(/ 10 +counts$/m);
  });

  it('refuses what it can not do, with the exit codes of other commands', async () => {
    const cases: [string[], number, string][] = [
      [['ban', 'arena'], 2, 'name BOARD PLAYER, PLAYER --all-boards, or BOARD --file LIST'],
      [['ban', 'arenas', 'ada'], 1, 'did you mean arena'],
      [['ban', 'arena', 'x'.repeat(129)], 2, 'playerId must be a string of 1 to 128 bytes'],
      [['list', 'arenas'], 1, 'did you mean arena'],
    ];
    const found = await Promise.all(cases.map(([args]) => players(...args)));
    for (const [index, [, code, text]] of cases.entries())
      expect(found[index]).toMatchObject({ code, err: expect.stringContaining(text) });
  });

  it('bans a player without a score beforehand, with a warning', async () => {
    const banned = await players('ban', 'arena', 'zoe');
    expect(banned).toMatchObject({
      code: 0,
      err: expect.stringContaining('without a score yet: zoe on arena; check the id'),
    });
    await send(event('arena', 'zoe', 99));
    expect(await ranking()).toBe('ada bob cyd dan');
  });

  it('bans on all boards; the list of one board bans on another', async () => {
    const dry = await players('ban', 'bob', '--all-boards', '--dry-run');
    expect(dry.out).toBe('to ban: 2 player(s): bob on arena, bob on cup\n');
    expect(await ranking('cup')).toBe('bob ada');
    const { sent } = await json('ban', 'bob', '--all-boards', '--reason', 'bot');
    expect(sent.map(({ board, counts }) => [board, counts])).toEqual([
      ['arena', true],
      ['cup', true],
    ]);
    expect([await ranking(), await ranking('cup')]).toEqual(['ada cyd dan', 'ada']);

    const [listed, last] = await Promise.all([
      instance.run('players', 'list', 'arena', '--json'),
      instance.run('players', 'list', 'arena', '--limit', '1'),
    ]);
    const lines = listed.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { board: 'arena', playerId: 'bob', kind: 'banned', reason: 'bot', time: expect.any(String) },
      { playerId: 'zoe' },
    ]);
    expect(last).toMatch(/^player +state .*\nbob +banned +20.* bot +\d\/\d+\n$/);
    const file = path.join(path.dirname(instance.env['RANKLOG_BOARDS'] ?? ''), 'list');
    await writeFile(file, `${listed}ada\n`);
    const copied = await json('ban', 'cup', '--file', file);
    expect(copied.sent.map(({ playerId }) => playerId)).toEqual(['zoe', 'ada']);
    expect(copied.already).toMatchObject([
      {
        board: 'cup',
        playerId: 'bob',
        kind: 'banned',
        reason: 'bot',
        partition: expect.any(Number),
      },
    ]);
    expect(await ranking('cup')).toBe('');
    await writeFile(file, 'bob\nada\nzoe\n');
    await players('unban', 'cup', '--file', file);
    expect(await ranking('cup')).toBe('bob ada');
  });

  it('plan warns of a new board while players are banned on others', async () => {
    const file = instance.env['RANKLOG_BOARDS'] ?? '';
    await writeFile(file, `${BOARDS}  duel: { columns: [{ name: points }] }\n`);
    const plan = instance.spawn('boards', 'plan');
    expect(await plan.ended).toBe(1);
    expect(plan.output).toContain('! players are banned or erased: 2 on arena, and not on duel;');
    await writeFile(file, BOARDS);
  });

  it('erases for good, says where the id remains, and only a void undoes it', async () => {
    const asked = await players('erase', 'arena', 'dan');
    expect(asked.code).toBe(2);
    expect(asked.out).toMatch(/^to erase: 1 player\(s\): dan on arena\n\nThe id remains in:\n/);
    expect(await ranking()).toBe('ada cyd dan');
    const erased = await players('erase', 'arena', 'dan', '--yes');
    expect(erased.code).toBe(0);
    const { periodResults, rankChanges } = instance.topics;
    for (const text of [
      'the score topic',
      `- ${rankChanges} and `,
      ', for the retention of the topic',
      `- ${periodResults} and `,
      ', until you delete them',
      'event ids of arena (deduplicate), each until its partition has an event of the board that is 24 h later',
      'docs/privacy.md',
    ])
      expect(erased.out).toContain(text);
    expect(await ranking()).toBe('ada cyd');
    await send(event('arena', 'dan', 50));
    const record = await at('dan');
    const explaining = instance.spawn('explain', 'arena', 'dan', '--json');
    const [shown, unbanned, banned, dry] = await Promise.all([
      players('list', 'arena', 'dan'),
      players('unban', 'arena', 'dan'),
      players('ban', 'arena', 'dan'),
      instance.run('scores', 'void', 'arena', '--at', record, '--dry-run'),
    ]);
    expect(shown.out).toMatch(/^dan on arena: erased at .* by .*; no view keeps a score$/m);
    expect(unbanned).toMatchObject({
      code: 1,
      err: expect.stringContaining(`"ranklog scores void arena --at ${record}"`),
    });
    expect(banned.code).toBe(0);
    expect(banned.out).toMatch(
      /^nothing to do: dan on arena: already erased at .*, record \d\/\d+\n$/,
    );
    expect(await explaining.ended).toBe(1);
    const { events } = JSON.parse(explaining.output) as { events: { effect: string }[] };
    const effects = events.map(({ effect }) => effect);
    expect(effects).toEqual([
      'erased: not stored',
      expect.stringMatching(/: counts$/),
      'erased: not stored',
    ]);
    expect(dry).toMatch(/ dan +erased +20.* counts$/m);
    await instance.run('scores', 'void', 'arena', '--at', record, '--yes');
    expect(await ranking()).toBe('dan ada cyd');
    const [explained, voids] = await Promise.all([
      instance.run('explain', 'arena', 'dan'),
      instance.run('scores', 'list', 'arena'),
      instance.run('boards', 'verify'),
    ]);
    expect(explained).toMatch(/ erasure by .*: voided$/m);
    expect(voids).toBe(`${record}  player "dan", erased\n`);
  });

  it('lists all bans as one table, the latest first', async () => {
    const { name, reader, redis } = instance;
    const { generation } = await reader.board('arena');
    const register = new KeySpace(name).bans(0, generation);
    const ids = Array.from({ length: 1_001 }, (_, time) => `p-${time}`);
    await redis.hset(register, new Map(ids.map((id, time) => [id, `banned ${time} 0 0 {}`])));
    const { count } = await reader.bans('arena');
    const { out } = await players('list', 'arena');
    await redis.hdel(register, ...ids);
    const [head, ...rows] = out.trimEnd().split('\n');
    const listed = rows.map((row) => row.split(' ')[0]);
    expect(head).toMatch(/^player +state /);
    expect(listed).toHaveLength(count);
    expect(listed.slice(-1_001)).toEqual(ids.toReversed());
  });

  it('says that a record is not applied yet if no process ingests it', async () => {
    await players('erase', 'arena', 'bob', '--yes');
    service.kill('SIGTERM');
    await service.ended;
    const banned = await players('ban', 'arena', 'cyd', '--timeout', '1');
    expect(banned.code).toBe(3);
    expect(banned.out).toContain('\n1 record(s) sent, 1 not applied within 1 s');
    expect(banned.out).toContain('Ranklog will still apply');
    const sent = await players('ban', 'arena', 'cyd', '--timeout', '1', '--json');
    expect(sent.code).toBe(3);
    expect(JSON.parse(sent.out)).toMatchObject({ sent: [{ playerId: 'cyd', counts: null }] });
    const file = `${instance.env['RANKLOG_BOARDS']}.list`;
    await writeFile(file, 'bob\nzoe\n');
    const unbanned = await players('unban', 'arena', '--file', file, '--timeout', '1');
    expect(unbanned).toMatchObject({ code: 3, err: expect.stringContaining('bob') });
    expect(await ranking()).toBe('dan ada cyd');
  });

  it('says that its answer is stale while Redis may lack records', async () => {
    const { name, redis } = instance;
    await redis.unlink(new KeySpace(name).continuity(0));
    const [listed, banned] = await Promise.all([
      players('list', 'arena'),
      players('ban', 'arena', 'bob'),
    ]);
    for (const { code, err } of [listed, banned])
      expect({ code, err }).toMatchObject({ code: 5, err: expect.stringContaining('stale: ') });
  });
});
