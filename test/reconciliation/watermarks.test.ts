import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { below } from '../faults/load.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';
import { definitionsOf, Ground, published, Traffic } from './ground.js';

const BOARDS = `boards:
  arena: { columns: [{ name: points }] }
  cup: { columns: [{ name: points }] }
`;
const PARTITIONS = 4;
const event = (serial: number) => ({
  board: serial % 3 === 0 ? 'cup' : 'arena',
  playerId: `player-${(serial * 7_919) % 300}`,
  delta: 1 + (serial % 7),
});

describe('a watermark that was moved by hand', () => {
  const { random, seed } = seededRandom();
  let instance: TestInstance;
  let ground: Ground;
  let traffic: Traffic;
  let key: string;
  let ingest: RanklogProcess;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    ground = new Ground(instance);
    traffic = new Traffic(instance, event);
    key = ground.keys.watermarks(0);
    ingest = await instance.start();
    await traffic.send(2_000);
    await published(instance, traffic);
  });
  afterAll(async () => {
    await traffic.close();
    await instance.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const verify = () => ground.reconciler.verify(['arena', 'cup'], options());
  const rebuild = () => ground.reconciler.build(definitionsOf(BOARDS).slice(0, 1), options());
  const logEnd = async (partition: number) => {
    const offsets = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    return Number(offsets.find((found) => found.partition === partition)?.offset);
  };
  /** Both boards are what the log makes of them, and every event has one result. */
  const isAllThere = async () => {
    await published(instance, traffic).catch((error: unknown) => {
      throw new Error(
        `${String(error)} (seed ${seed}); ingest said last: ${ingest.errors.slice(-4_000)}`,
      );
    });
    const wrong = await Promise.all(definitionsOf(BOARDS).map((one) => ground.wrongViews(one)));
    expect({ seed, wrong: wrong.flat() }).toEqual({ seed, wrong: [] });
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    expect(new Set(causes).size).toBe(causes.length);
    expect(causes).toHaveLength(traffic.sent);
  };

  /** Answers the partitions whose watermarks are other than before. */
  const MOVES: Readonly<Record<string, () => Promise<number[]>>> = {
    'beyond the log, back, to nowhere and to what is no number': async () => {
      await ground.redis.hset(key, {
        0: (await logEnd(0)) + 2_000,
        1: Math.floor((await logEnd(1)) / 2),
        3: 'x',
      });
      await ground.redis.hdel(key, '2');
      return [0, 1, 2, 3];
    },
    'just beyond the log': async () => {
      const partition = below(random, PARTITIONS);
      await ground.redis.hset(key, partition, (await logEnd(partition)) + 3);
      return [partition];
    },
    'to nowhere, all of them': async () => {
      await ground.redis.del(key);
      return [0, 1, 2, 3];
    },
  };
  const moves = Object.entries(MOVES);
  /** Both boards are told to differ in the watermarks of these partitions. */
  const isFound = async (partitions: readonly number[]) => {
    for (const { board, equal, differences } of await verify()) {
      expect({ seed, board, equal }).toEqual({ seed, board, equal: false });
      expect(differences.map(({ kind }) => kind)).toEqual(partitions.map(() => 'watermark'));
      expect(differences.map(({ partition }) => partition).sort()).toEqual(partitions);
    }
  };
  const isEqual = async () => {
    expect({ seed, reports: await verify() }).toMatchObject({
      reports: [{ equal: true }, { equal: true }],
    });
  };

  it.each(moves)(
    'is found %s, and mended by a build, with all that was written meanwhile',
    async (_name, move) => {
      const moved = await move();
      await traffic.send(400);
      await isFound(moved);
      await traffic.send(100);
      await rebuild();
      await isAllThere();
      await isEqual();
    },
  );

  /** No build is made live before `letGo`. */
  const holdFlips = () => {
    const { generations } = ground;
    const flip = generations.flip.bind(generations);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const hold = {
      isReached: false,
      letGo: () => {
        generations.flip = flip;
        release();
      },
    };
    generations.flip = async (...args) => {
      hold.isReached = true;
      await held;
      return flip(...args);
    };
    return hold;
  };

  it.each(moves)(
    'that is moved %s during a build is put right by it, and misleads no board',
    async (_name, move) => {
      let done = 0;
      const hold = holdFlips();
      const building = ground.reconciler.build(definitionsOf(BOARDS).slice(0, 1), {
        ...options(),
        eventsPerSecond: 3_000,
        onProgress: (progress) => ({ done } = progress),
      });
      building.catch(() => undefined);
      try {
        await until(() => done > 0 || hold.isReached, 'the build is under way');
        await move();
      } finally {
        hold.letGo();
      }
      await traffic.send(400);
      await building;
      await isAllThere();
      await isEqual();
    },
  );

  const startAnew = async (whileDown: () => Promise<unknown>) => {
    ingest.kill('SIGKILL');
    await ingest.ended;
    await traffic.send(400);
    await whileDown();
    ingest = await instance.start();
  };

  it.each(moves)(
    'that is moved %s while no service runs holds up the one that is started, until a build',
    async (_name, move) => {
      let moved: number[] = [];
      await startAnew(async () => (moved = await move()));
      await until(() => ingest.errors.includes('has moved its watermark'), 'a partition waits');
      await isFound(moved);
      await rebuild();
      await isAllThere();
      await isEqual();
    },
  );

  it('holds up nobody once it is put right, though it was taken for a loss meanwhile', async () => {
    await published(instance, traffic);
    await startAnew(async () => {
      const targets = await ground.redis.hgetall(ground.keys.published(0));
      await ground.redis.hset(ground.keys.healing(0), targets);
    });
    await isAllThere();
    expect(await ground.redis.exists(ground.keys.healing(0))).toBe(0);
  });

  it('beside a record that the log does not have is left as it is, and mended when that is put right', async () => {
    const records = ground.keys.records(0);
    const kept = (await ground.redis.hget(records, '1')) ?? '';
    await ground.redis.hset(records, '1', '200 1700000000000 0123456789abcdef');
    await ground.redis.hset(key, '1', (await logEnd(1)) + 20);
    await traffic.send(100);
    const before = await ground.redis.hget(key, '1');
    await expect(rebuild()).rejects.toThrow("can't be that: the log has another one there");
    expect(await ground.redis.hget(key, '1')).toBe(before);
    await ground.redis.hset(records, '1', kept);
    await rebuild();
    await isAllThere();
    await isEqual();
  });

  it('beside a record that is older than what is published is left as it is, and heals when Redis is emptied', async () => {
    const records = ground.keys.records(0);
    const older = (await ground.redis.hget(records, '2')) ?? '';
    await traffic.send(200);
    await isAllThere();
    await ground.redis.hset(records, '2', older);
    await isFound([2]);
    await expect(rebuild()).rejects.toThrow("can't be that: later ones are published");
    await ground.redis.unlink(await ground.redis.keys(`${instance.name}:*`));
    await traffic.send(100);
    await isAllThere();
    await isEqual();
  });

  it('is found and mended under traffic, wherever it was moved to', async () => {
    traffic.start(20, 20);
    for (let round = 0; round < 4; round++) {
      const partition = below(random, PARTITIONS);
      const moved = below(random, 2 * (await logEnd(partition)));
      await ground.redis.hset(key, partition, moved);
      const sent = traffic.sent;
      await until(() => traffic.sent > sent + 200, 'traffic flows');
      await rebuild();
    }
    await traffic.stop();
    await isAllThere();
    await isEqual();
  });

  it('ends boards verify with 1, and boards rebuild with 0', async () => {
    await ground.redis.hset(key, '1', (await logEnd(1)) + 50);
    const verifying = instance.spawn('boards', 'verify', 'arena');
    expect(await verifying.ended).toBe(1);
    expect(verifying.output).toMatch(/^- +watermark +- +partition 1: \d+ +\d+$/m);
    await instance.run('boards', 'rebuild', 'arena');
    await instance.run('boards', 'verify');
    await isAllThere();
  });
});
