import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { KeySpace } from '#board-store';
import { formatTime } from '#contracts';
import { ScoreTopic } from '../ingest/score-topic.js';
import { letProducersDate } from '../support/kafka-client.js';
import { RanklogProcess, TestInstance, until } from '../support/instance.js';

const boardsFile = (fields: string) => `boards:
  arena: { columns: [{ name: points }], deduplicate: 24h${fields} }
  cup: { columns: [{ name: points }] }
`;

const NOW = Date.now();
const HOUR = 3_600_000;
const PARTITIONS = 3;

const message = (playerId: string, eventId: string, more: object = {}): Message => ({
  key: playerId,
  value: JSON.stringify({ board: 'arena', playerId, eventId, delta: 1, ...more }),
  timestamp: String(NOW - HOUR),
});

interface Changed {
  readonly records: readonly {
    partition: number;
    offset: number;
    timestamp: number;
    playerId: string;
    effect: string;
  }[];
  readonly reads: number;
  readonly generation?: string;
  readonly places: readonly { partition: number; offset: number }[];
}

describe('ranklog scores', () => {
  let instance: TestInstance;
  let log: ScoreTopic;

  beforeAll(async () => {
    instance = await TestInstance.create(boardsFile(''), { partitions: PARTITIONS });
    log = new ScoreTopic(instance);
    await letProducersDate(instance, log.name);
    await instance.start();
    await send(
      message('ada', 'one', { delta: 5 }),
      message('ada', 'two', { delta: 7 }),
      message('ada', 'two', { delta: 7 }), // a duplicate
      message('bob', 'one', { delta: 6 }),
      message('bob', 'bad', { delta: 'x' }),
      message('bob', 'early', { occurredAt: formatTime(NOW + HOUR / 2) }), // a dead letter
      // in two partitions: deduplicate drops neither
      { ...message('eve', 'twice', { delta: 9 }), partition: 0 },
      { ...message('eve', 'twice', { delta: 9 }), partition: 2 },
    );
  });
  afterAll(() => instance.remove());

  async function scores(...args: string[]) {
    const child = instance.spawn('scores', ...args);
    return { code: await child.ended, out: child.output, err: child.errors };
  }
  const json = async (...args: string[]) =>
    JSON.parse(await instance.run('scores', ...args, '--yes', '--json')) as Changed;
  const named = (...pairs: [string, string][]) =>
    pairs.flatMap(([player, event]) => ['--player', player, '--event', event]);
  const send = async (...messages: Message[]) => {
    await log.sendMessages(messages);
    await instance.run('status', '--wait', '60');
  };
  const points = async () => {
    const { entries } = await instance.reader.standings('arena', { limit: 100 });
    return Object.fromEntries(entries.map((one) => [one.playerId, Number(one.columns['points'])]));
  };
  const list = async () => (await instance.run('scores', 'list', 'arena')).trim().split('\n');
  const voided = async () => (await list()).map((line) => line.split(' ', 1)[0] ?? '');
  const generation = async () => (await instance.reader.board('arena')).generation;
  const verify = () => instance.run('boards', 'verify', 'arena');

  it('list names the topic that is missing', async () => {
    const env = { ...instance.env, RANKLOG_TOPIC_PREFIX: 'missing' };
    const child = new RanklogProcess(['scores', 'list', 'arena'], env);
    expect(await child.ended).toBe(2);
    expect(child.errors).toContain('missing.score-events');
  });

  it('void refuses events that it can not take back, all at once, and changes nothing', async () => {
    const before = await generation();
    const refused = await scores(
      'void',
      'arena',
      ...named(['ada', 'one'], ['ada', 'three'], ['xan', 'two'], ['bob', 'bad'], ['bob', 'early']),
      ...['--at', '7/0', '--at', '0/999', '--yes'],
    );
    expect(refused).toMatchObject({ code: 1, out: '' });
    const problems = refused.err.replace(/^.*\n(?=ranklog)/s, '');
    const part = 'is not in the part of the log that is applied to the board';
    expect(problems).toContain(
      `can't void on board "arena": player "ada", event "three" ${part}, which has other events of the player; ` +
        `player "xan", event "two" ${part}, which has no event of the player; `,
    );
    expect(problems).toContain('player "bob", event "early" never counted');
    expect(problems).toContain(': refused: TOO_FAR_AHEAD)');
    expect(problems).toContain('7/0 does not exist: the topic has 3 partition(s), numbered from 0');
    expect(problems).toContain('0/999 is no score event or player record of the board, or');
    expect(problems).toContain('; nothing was changed');
    expect(problems).not.toContain('event "one"');
    expect(await generation()).toBe(before);
  });

  it.each([
    [['void', 'arena'], 2, 'name events with --player and --event, --at or --file'],
    [['void', 'arena', '--player', 'ada'], 2, 'there are 1 --player and 0 --event'],
    [['void', 'arena', '--at', 'x'], 2, 'use PARTITION/OFFSET, such as 0/17'],
    [['void', 'arena', '--file', '/none'], 2, "can't read /none"],
    [['void', 'arenas', '--at', '0/1'], 1, 'arena'],
    [['void', 'arena', '--player', 'ada', '--event', 'one'], 2, 'use --yes, or --dry-run'],
  ])('refuses %j with exit code %d', async (args, code, text) => {
    const refused = await scores(...args);
    expect(refused).toMatchObject({ code, err: expect.stringContaining(text) });
  });

  it('void takes back all records of an event, under traffic, and verify finds no difference', async () => {
    expect(await points()).toEqual({ ada: 12, bob: 6, eve: 18 });
    const before = await generation();
    const dry = await scores('void', 'arena', ...named(['ada', 'two']), '--dry-run');
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/ada +two .* 7 +counts\n/) });
    expect(dry.out).toMatch(/building arena: reads \d+ record\(s\) of the log in one pass/);
    expect(await generation()).toBe(before);

    const voiding = new AbortController();
    let sent = 0;
    const traffic = (async () => {
      for (; sent === 0 || !voiding.signal.aborted; sent++)
        await log.sendMessages([message('zoe', `z${sent}`)]);
    })();
    const changed = await json('void', 'arena', ...named(['ada', 'two'], ['eve', 'twice']));
    voiding.abort();
    await traffic;
    await instance.run('status', '--wait', '60');
    const effects = changed.records.map(({ playerId, effect }) => `${playerId} ${effect}`);
    expect(effects.sort()).toEqual(['ada counts', 'ada duplicate', 'eve counts', 'eve counts']);
    expect(await points()).toEqual({ ada: 5, bob: 6, zoe: sent });
    expect(await list()).toEqual(
      changed.places.map(({ partition, offset }) => {
        const { playerId } = changed.records.find(
          (one) => one.partition === partition && one.offset === offset,
        )!;
        return `${partition}/${offset}  player "${playerId}", event "${playerId === 'ada' ? 'two' : 'twice'}"`;
      }),
    );
    const { voids } = JSON.parse(await instance.run('scores', 'list', 'arena', '--json')) as {
      voids: object[];
    };
    expect(voids).toMatchObject(changed.places.map((place) => ({ ...place, kind: null })));
    await verify();
  });

  it.each([
    ['void', ['ada', 'two'], 'nothing to do: voided already: player "ada", event "two"\n'],
    ['unvoid', ['ada', 'one'], 'nothing to do: not voided: player "ada", event "one"\n'],
  ] as const)('%s of an event that is so already builds nothing', async (kind, [...name], out) => {
    const before = await generation();
    const again = await scores(kind, 'arena', ...named(name), '--yes');
    expect(again).toMatchObject({ code: 0, out });
    expect(await generation()).toBe(before);
  });

  it('a duplicate of a voided event stays dropped, and explain says what is voided', async () => {
    await send(message('ada', 'two', { delta: 7 }));
    expect((await points())['ada']).toBe(5);
    const explained = await instance.run('explain', 'arena', 'ada');
    expect(explained.match(/ +(counts|voided|duplicate)$/gm)?.map((one) => one.trim())).toEqual([
      ...['counts', 'voided', 'voided', 'duplicate'],
    ]);
  });

  it('the boards file neither differs for it, nor removes it', async () => {
    expect(await instance.run('boards', 'plan')).toContain('nothing to do');
    const before = await voided();
    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', boardsFile(', ties: latest'));
    await instance.run('boards', 'apply', '--yes');
    await instance.run('boards', 'rebuild', 'arena');
    expect(await voided()).toEqual(before);
    expect((await points())['ada']).toBe(5);
    await verify();
  });

  it('a Redis that lost everything comes back with the events voided', async () => {
    const [before, places] = [await points(), await voided()];
    await instance.redis.unlink(...(await instance.redis.keys(`${instance.name}:*`)));
    await until(
      async () => JSON.stringify(await points().catch(() => ({}))) === JSON.stringify(before),
      'the board has recovered',
    );
    await instance.run('status', '--wait', '60');
    expect(await voided()).toEqual(places);
    await verify();
  });

  it('unvoid counts events again by the list of their records', async () => {
    const before = await points();
    const file = path.join(path.dirname(instance.env['RANKLOG_BOARDS'] ?? ''), 'list');
    await writeFile(file, `${(await list()).join('\n')}\n`);
    await json('unvoid', 'arena', '--file', file);
    expect(await points()).toEqual({ ...before, ada: 12, eve: 18 });
    expect(await instance.run('scores', 'list', 'arena')).toBe('\n');
    await verify();
    // Back to the generation with the voids, and forward again only with a flag.
    await instance.run('boards', 'rollback', 'arena');
    expect((await points())['ada']).toBe(5);
    const refused = instance.spawn('boards', 'rollback', 'arena');
    expect(await refused.ended).toBe(2);
    expect(refused.errors).toContain('counts 4 record(s) that are voided in the live one');
    expect((await points())['ada']).toBe(5);
    await instance.run('boards', 'rollback', 'arena', '--allow-unvoid');
    expect((await points())['ada']).toBe(12);
  });

  it('a void of a retry lasts when a later definition takes the record that it retries', async () => {
    await instance.run('dead-letters', 'retry', '--yes', '--board', 'arena');
    await instance.run('status', '--wait', '60');
    expect((await points())['bob']).toBe(7);
    const explained = JSON.parse(await instance.run('explain', 'arena', 'bob', '--json')) as {
      events: readonly { partition: number; offset: number }[];
    };
    const { partition, offset } = explained.events.at(-1)!;
    const { records, places } = await json('void', 'arena', '--at', `${partition}/${offset}`);
    expect(records.map(({ effect }) => effect)).toEqual(['counts']);
    expect(places).toHaveLength(2); // the retry, and the dead letter that it retries
    expect((await points())['bob']).toBe(6);
    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', boardsFile(', maxAhead: 3h'));
    await instance.run('boards', 'apply', '--yes');
    expect((await points())['bob']).toBe(6);
    await verify();
  });

  it('a dead letter of a voided event is not sent again, and a retry of it does not count', async () => {
    await send(message('dan', 'late', { occurredAt: formatTime(NOW + 3 * HOUR) }));
    await send(message('dan', 'late', { delta: 4 })); // sent again by the service
    expect((await points())['dan']).toBe(4);
    const { records } = await json('void', 'arena', ...named(['dan', 'late']));
    expect(records.map(({ effect }) => effect)).toEqual(['refused: TOO_FAR_AHEAD', 'counts']);
    const retried = instance.spawn('dead-letters', 'retry', '--yes', '--board', 'arena');
    expect(await retried.ended).toBe(1);
    expect(retried.errors).toContain(': its event is voided (');
    const [{ partition, offset, timestamp }] = records as [(typeof records)[0]];
    const headers = {
      ranklog_retry_of: `${log.name}/${partition}/${offset}`,
      ranklog_retry_timestamp: String(timestamp),
    };
    const fields = { eventId: undefined, occurredAt: formatTime(NOW + 3 * HOUR) };
    const retry = message('dan', '', fields);
    await send({ ...retry, partition, headers, timestamp: String(Date.now()) });
    expect((await points())['dan']).toBeUndefined();
    await verify();
  });

  it('a void of a retried ban voids what it retries, and no retry of either counts', async () => {
    const partition = 1;
    const ban = (headers: object, timestamp: number): Message => ({
      ...{ key: 'ann', partition, timestamp: String(timestamp) },
      value: JSON.stringify({ board: 'arena', playerId: 'ann' }),
      headers: {
        ce_type: 'ranklog.player-banned.v1',
        ranklog_time: String(NOW + HOUR / 2), // too far ahead of the first record
        ...headers,
      },
    });
    await send(message('ann', 'one', { delta: 3 }));
    const offset = (await log.ends()).get(partition) ?? 0;
    const retried = {
      ranklog_retry_of: `${log.name}/${partition}/${offset}`,
      ranklog_retry_timestamp: String(NOW - HOUR),
    };
    await send(ban({}, NOW - HOUR));
    expect((await points())['ann']).toBe(3);
    await send(ban(retried, Date.now()));
    expect((await points())['ann']).toBeUndefined();
    const at = `${partition}/${offset}`;
    const { records, places } = await json('void', 'arena', '--at', at);
    expect(records).toMatchObject([{ offset: offset + 1, effect: 'counts' }]);
    expect(places).toMatchObject([{ offset }, { offset: offset + 1 }]);
    await send(ban(retried, Date.now()));
    expect((await points())['ann']).toBe(3);
    const explained = await instance.run('explain', 'arena', 'ann', '--all-partitions');
    expect(explained.match(/ ban: voided$/gm)).toHaveLength(2);
    const unvoid = await scores('unvoid', 'arena', '--at', at, '--dry-run', '--json');
    expect((JSON.parse(unvoid.out) as Changed).places).toEqual(places);
    await verify();
  });

  it('the same void continues one that was killed; a refused rollback leaves it alone', async () => {
    const args = ['void', 'arena', ...named(['ada', 'one']), '--yes'];
    const killed = instance.spawn('scores', ...args, '--throttle', '1');
    const shadow = async () => {
      const found = await instance.run('boards', 'generations', '--json');
      const all = JSON.parse(found) as { role: string; generation: string }[];
      return all.find(({ role }) => role === 'shadow')?.generation;
    };
    await until(async () => (await shadow()) !== undefined, 'the build has begun');
    killed.kill('SIGKILL');
    await killed.ended;
    const left = await shadow();
    await instance.redis.del(new KeySpace(instance.name).lease(0, 'arena')); // as if it had expired
    const rollback = instance.spawn('boards', 'rollback', 'arena');
    const refused = { code: await rollback.ended, err: rollback.errors };
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--allow-unvoid') });
    expect(await shadow()).toBe(left);
    expect((await json(...args)).generation).toBe(left);
    expect((await points())['ada']).toBeLessThan(12);
    await verify();
  });

  it('of a cut log, void says that it is cut before it asks, and unvoid takes all places', async () => {
    await json('void', 'arena', ...named(['ada', 'two']));
    const [first = ''] = await voided();
    const [partition = 0, offset = 0] = first.split('/').map(Number);
    await log.cut(partition, offset + 1);
    const before = await generation();
    expect((await list())[0]).toBe(`${first}  not in the log`);
    await send(message('zoe', 'last'));
    const dry = await scores('void', 'arena', ...named(['zoe', 'last']), '--dry-run');
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('the log is gone') });
    const refused = await scores('void', 'arena', ...named(['zoe', 'last']));
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('are gone from the') });
    expect(await generation()).toBe(before);
    const places = (await voided()).flatMap((place) => ['--at', place]);
    await json('unvoid', 'arena', ...places, '--allow-partial-history');
    expect(await voided()).toEqual(['']);
  });
});
