import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { DeadLetterSubscriber, type DeadLetterRecord } from '#client';
import { encodePlayerRecord, formatTime } from '#contracts';
import { ScoreTopic } from '../ingest/score-topic.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { letProducersDate } from '../support/kafka-client.js';
import { readCommitted } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';

const boardsFile = (maxAhead: string, more = '') => `boards:
  arena: { columns: [{ name: points }], maxAhead: ${maxAhead} }
${more}`;

const NOW = Date.now();
const HOUR = 3_600_000;
const PARTITIONS = 2;
/** So many make several transactions of a retry. */
const MANY = 160;
const PADDING = 'x'.repeat(30_000);

const event = (fields: object) => JSON.stringify({ board: 'arena', playerId: 'p', ...fields });

/**
 * Dated half an hour after its record, and half an hour ago: a board refuses it, and takes its
 * retry.
 */
const early = (playerId: string, delta: number | string = 1, more: object = {}): Message => {
  const occurredAt = formatTime(NOW - HOUR / 2);
  const value = event({ playerId, delta, occurredAt, ...more });
  return { key: playerId, value, timestamp: String(NOW - HOUR), headers: { trace: playerId } };
};

interface Listed {
  readonly count: number;
  readonly deadLetters: readonly Record<string, unknown>[];
}

describe('ranklog dead-letters', () => {
  let instance: TestInstance;
  let service: RanklogProcess;
  let log: ScoreTopic;
  const { random, seed } = seededRandom();

  beforeAll(async () => {
    process.stderr.write(`test/cli/dead-letters: RANKLOG_TEST_SEED=${seed}\n`);
    instance = await TestInstance.create(boardsFile('1m'), { partitions: PARTITIONS });
    await letProducersDate(instance, instance.topics.scoreEvents);
    log = new ScoreTopic(instance);
    service = await instance.start();
  });
  afterAll(() => instance.remove());

  async function ranklog(...args: string[]) {
    const child = instance.spawn('dead-letters', ...args);
    return { code: await child.ended, out: child.output, err: child.errors };
  }
  const json = async <T>(...args: string[]) =>
    JSON.parse((await ranklog(...args, '--json')).out) as T;
  const published = () => instance.run('status', '--wait', '60');
  const send = async (...messages: Message[]) => {
    await log.sendMessages(messages);
    await published();
  };
  const setBoards = (text: string) => writeFile(instance.env['RANKLOG_BOARDS'] ?? '', text);
  const apply = async (text: string, ...options: string[]) => {
    await setBoards(text);
    await instance.run('boards', 'apply', '--yes', ...options);
  };
  const points = async (board = 'arena') => {
    const { entries } = await instance.reader.standings(board, { limit: 1_000 });
    return Object.fromEntries(entries.map((one) => [one.playerId, one.columns['points']]));
  };
  const retryIds = async () =>
    (await readCommitted(instance.kafka, log.name)).flatMap(({ headers }) =>
      [headers['ranklog_retry_of'] ?? []].flat().slice(-1).map(String),
    );
  const metricLines = async () => {
    const text = await (await fetch(`${service.operations}/metrics`)).text();
    return text.match(/^ranklog_dead_letters_total.*$/gm);
  };

  it('are counted, logged once for each reason, and told by status --wait', async () => {
    const bad = Array.from({ length: 5 }, () => ({ key: 'q', value: 'no JSON', partition: 0 }));
    await log.sendMessages([
      ...bad,
      { key: 'ghost', value: event({ board: 'ghost', playerId: 'ghost', delta: 1 }) },
      early('ada'),
    ]);
    const status = instance.spawn('status', '--wait', '60');
    expect(await status.ended).toBe(0);
    const said = /7 recent dead letters, the last at 20.*; "ranklog dead-letters list" shows them/;
    expect(status.errors).toMatch(said);
    expect(status.output).toMatch(said);
    expect((await metricLines())?.sort()).toEqual([
      'ranklog_dead_letters_total{reason="NOT_JSON",board=""} 5',
      'ranklog_dead_letters_total{reason="TOO_FAR_AHEAD",board="arena"} 1',
      'ranklog_dead_letters_total{reason="UNKNOWN_BOARD",board=""} 1',
    ]);
    const logged = () => service.errors.match(/"reason":"NOT_JSON"/g)?.length ?? 0;
    await until(() => logged() === 2, 'the other four are logged together', 20);
    const counts = [...service.errors.matchAll(/"count":(\d).*?"reason":"NOT_JSON"/g)];
    expect(counts.map(([, count]) => Number(count))).toEqual([1, 4]);
  });

  it('list selects by reason, board, partition and time', async () => {
    const all = await json<Listed>('list');
    expect(all.count).toBe(7);
    const [ghost] = all.deadLetters.filter(({ reason }) => reason === 'UNKNOWN_BOARD');
    expect(ghost).toEqual({
      id: expect.stringMatching(/score-events\/\d\/\d+$/),
      reason: 'UNKNOWN_BOARD',
      detail: 'there is no board "ghost"',
      board: 'ghost',
      playerId: 'ghost',
      publishedAt: expect.stringMatching(/^20/),
      retryOf: [],
    });
    const counts = async (...args: string[]) => (await json<Listed>('list', ...args)).count;
    expect(await counts('--reason', 'NOT_JSON')).toBe(5);
    expect(await ranklog('list', '--reason', 'NOT_JASON')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no reason NOT_JASON; did you mean NOT_JSON\?; .*UNKNOWN_BOARD/),
    });
    expect(await counts('--board', 'arena')).toBe(1);
    expect((await counts('--partition', '0')) + (await counts('--partition', '1'))).toBe(7);
    expect(await counts('--partition', '9')).toBe(0);
    const at = String(ghost?.['publishedAt']);
    for (const time of [at, at.replace('Z', '')])
      expect((await counts('--from', time)) + (await counts('--until', time))).toBe(7);
    expect(await counts('--from', at.replace('Z', ''))).toBe(await counts('--from', at));
    const { out } = await ranklog('list', '--limit', '2');
    expect(out).toMatch(
      /^id +reason +board +player +published +retry of\n(.*\n){2}\n7 dead letters; the last 2 are shown\n$/,
    );
  });

  it('show prints the record, the reason and what to do', async () => {
    const [letter] = (await json<Listed>('list', '--board', 'arena')).deadLetters;
    const id = String(letter?.['id']);
    expect(await json<object>('show', id)).toEqual({
      ...letter,
      wayOut: expect.stringMatching(/clock/),
      timestamp: NOW - HOUR,
      leftOut: [],
      key: 'ada',
      headers: expect.objectContaining({ trace: ['ada'], ranklog_reason: ['TOO_FAR_AHEAD'] }),
      value: early('ada').value,
      failedAgain: [],
    });
    expect((await ranklog('show', id)).out).toMatch(/^reason +TOO_FAR_AHEAD$/m);
    expect(await ranklog('show', 'x/0/1')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no dead letter has the id x/0/1'),
    });
  });

  it('retry sends what its board takes now, once, and reports the rest', async () => {
    expect(await ranklog('retry')).toMatchObject({
      code: 2,
      err: expect.stringContaining('retry asks for confirmation, and there is no terminal'),
    });
    const counts = { selected: 7, partlyLate: 0, retried: 0, accepted: 0, refused: 6 };
    expect(await json<object>('retry', '--dry-run')).toEqual({ ...counts, toSend: 1 });
    expect(await retryIds()).toEqual([]);
    const first = await ranklog('retry', '--yes', '--json');
    expect([first.code, JSON.parse(first.out)]).toEqual([1, { ...counts, sent: 1 }]);
    expect(first.err).toMatch(/\/0\/0: refused again: NOT_JSON: /);
    await published();
    expect(await points()).toEqual({ ada: '1' });
    const again = await json<object>('retry', '--yes', '--reason', 'TOO_FAR_AHEAD');
    expect(again).toEqual({
      selected: 1,
      sent: 0,
      partlyLate: 0,
      retried: 1,
      accepted: 0,
      refused: 0,
    });
    const [retried] = (await readCommitted(instance.kafka, log.name)).filter(
      ({ headers }) => headers['ranklog_retry_of'] !== undefined,
    );
    expect(retried?.key?.toString()).toBe('ada');
    expect(String(retried?.headers['trace'])).toBe('ada');
    expect(retried?.headers).not.toHaveProperty('ranklog_reason');
  });

  it('a retry that fails again is a new dead letter, which shows where it came from', async () => {
    await send(early('max', String(Number.MAX_SAFE_INTEGER)), {
      key: 'max',
      value: event({ playerId: 'max', delta: 1 }),
    });
    const [letter] = (await json<Listed>('list', '--limit', '1')).deadLetters;
    const id = String(letter?.['id']);
    expect(await json<object>('retry', id, '--yes')).toMatchObject({ selected: 1, sent: 1 });
    await published();
    const [again] = (await json<Listed>('list', '--limit', '1')).deadLetters;
    expect(again).toMatchObject({ reason: 'SUM_OUT_OF_RANGE', board: 'arena', retryOf: [id] });
    expect(await json<object>('show', id)).toMatchObject({ failedAgain: [again?.['id']] });
    expect((await ranklog('show', String(again?.['id']))).out).toContain(`"${id}"`);
    expect(await json<object>('retry', String(again?.['id']), '--yes')).toMatchObject({
      selected: 1,
      accepted: 1,
      sent: 0,
    });
  });

  it('retries count once if they run at the same time, and are killed at random moments', async () => {
    const players = Array.from({ length: MANY }, (_, index) => `many-${index}`);
    const messages = players.map((player) => early(player, 1, { padding: PADDING }));
    for (let from = 0; from < MANY; from += 20)
      await log.sendMessages(messages.slice(from, from + 20));
    await published();
    const before = (await retryIds()).length;
    const sum = async () => [...(await log.ends()).values()].reduce((all, end) => all + end, 0);
    const args = ['dead-letters', 'retry', '--yes', '--reason', 'TOO_FAR_AHEAD'];
    const begin = performance.now();
    await instance.run(...args.with(2, '--dry-run'));
    const length = performance.now() - begin;
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      const end = await sum();
      const children = [instance.spawn(...args)];
      const spawned = performance.now();
      const lives = length * (0.5 + random());
      const isOver = async () =>
        round % 2 === 0 ? performance.now() - spawned > lives : (await sum()) > end;
      const isEnded = () => children.every(({ exitCode }) => exitCode !== null);
      if (round % 3 === 0) children.push(instance.spawn(...args));
      await until(async () => isEnded() || (await isOver()), 'the time to kill has come');
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ ended }) => ended));
      sizes.push((await retryIds()).length - before);
    }
    process.stderr.write(`retries in the log after each kill: ${sizes.join(' ')}\n`);
    const last = await Promise.all(
      [instance.spawn(...args), instance.spawn(...args)].map(({ ended }) => ended),
    );
    expect(last).toContain(0);
    for (const code of last) expect([0, 3]).toContain(code);
    expect(await instance.run(...args, '--json')).toContain('"sent": 0');
    const ids = await retryIds();
    expect([new Set(ids).size, ids.length]).toEqual([before + MANY, before + MANY]);
    await published();
    expect(await points()).toEqual({
      ...Object.fromEntries(players.map((player) => [player, '1'])),
      ada: '1',
      max: '1',
    });
  });

  it('a board that is built again with a wider definition counts the original or its retry, not both', async () => {
    const before = await points();
    await apply(boardsFile('2h'));
    expect(await points()).toEqual({ ...before, max: String(Number.MAX_SAFE_INTEGER) });
    expect(await instance.run('boards', 'verify')).toMatch(/arena/);
  });

  it('a retry leaves out what a build has counted', async () => {
    await apply(boardsFile('2h', '  ghost: { columns: [{ name: points }] }\n'));
    expect(await points('ghost')).toEqual({ ghost: '1' });
    const retry = await json<object>('retry', '--yes', '--board', 'ghost');
    expect(retry).toEqual({
      selected: 1,
      sent: 0,
      partlyLate: 0,
      retried: 0,
      accepted: 1,
      refused: 0,
    });
  });

  it('a retry counts on a board that begins after the record, with the time of the record', async () => {
    await send({
      key: 'cup',
      value: event({ board: 'cup', playerId: 'cup', delta: 7 }),
      timestamp: String(NOW - HOUR),
    });
    const cup = '  cup: { columns: [{ name: points }] }\n';
    await apply(boardsFile('2h', cup), '--from', formatTime(Date.now()));
    expect(await points('cup')).toEqual({});
    expect(await json<object>('retry', '--yes', '--board', 'cup')).toMatchObject({ sent: 1 });
    await published();
    const reached = async () =>
      (await instance.reader.standings('cup', { limit: 10 })).entries.map(
        ({ columns, reachedAt }) => [columns['points'], reachedAt],
      );
    expect(await reached()).toEqual([['7', formatTime(NOW - HOUR)]]);
    await instance.run('boards', 'rebuild', 'cup', '--from', 'start');
    expect(await reached()).toEqual([['7', formatTime(NOW - HOUR)]]);
    expect(await instance.run('explain', 'cup', 'cup')).toContain('rank 1 of 1');
  });

  it('reach a subscriber, each with its record', async () => {
    const { kafka, name } = instance;
    const group = { groupId: `${name}-letters`, topicPrefix: name, fromBeginning: true };
    const subscriber = new DeadLetterSubscriber({ kafka, ...group });
    const seen: DeadLetterRecord[] = [];
    await subscriber.start((letter) => void seen.push(letter));
    const { count } = await json<Listed>('list');
    await until(() => seen.length >= count, 'all have come');
    await subscriber.stop();
    const ada = seen.find(({ key }) => key?.toString() === 'ada');
    expect(ada).toMatchObject({ code: 'TOO_FAR_AHEAD', timestamp: NOW - HOUR, leftOut: [] });
    expect(ada?.value?.toString()).toBe(early('ada').value);
  });

  it('a retry of a ban keeps the time of the ban', async () => {
    const time = NOW - HOUR / 2;
    const ban = { board: 'arena', playerId: 'ada', reason: 'bot' };
    const record = encodePlayerRecord('banned', ban, { id: 'ban', source: '/test', time });
    await send({ ...record, timestamp: String(time - 2 * HOUR) });
    expect(await instance.reader.ban('arena', 'ada')).toBeNull();
    const [letter] = (await json<Listed>('list', '--limit', '1')).deadLetters;
    expect(letter).toMatchObject({ reason: 'TOO_FAR_AHEAD', playerId: 'ada' });
    await instance.run('dead-letters', 'retry', '--yes', String(letter?.['id']));
    await published();
    expect(await instance.reader.ban('arena', 'ada')).toMatchObject({ kind: 'banned', time });
    expect(await points()).not.toHaveProperty('ada');
  });
});
