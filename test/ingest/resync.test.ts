import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ContinuityStore, type KeySpace } from '#board-store';
import { openTestRedis } from '../board-store/test-redis.js';
import { until } from '../support/instance.js';
import {
  ReplacedServerError,
  timeOf,
  type ContinuityTimes,
} from '../../src/ingest/continuity-times.js';
import { Resync, StoreChangedError } from '../../src/ingest/resync.js';
import { loggerTo } from '../support/loggers.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/**
 * How long a lease lasts. It is renewed each quarter of this time, so its holder keeps it over a
 * pause of three quarters.
 */
const LEASE_MS = 4_000;

/** How long a replaced server is refused. */
const REFUSED_MS = 300;

const NO_DEFINITIONS = { readAll: () => Promise.resolve(new Map()), unreadable: new Map() };

let keys: KeySpace;
let store: ContinuityStore;
beforeEach(() => {
  keys = newKeys();
  store = new ContinuityStore(redis, keys, { shards: 1 });
});

/** The resync of one instance of ranklog, with a Kafka that responds when the test opens it. */
class Instance {
  begun = 0;
  open: () => void = () => undefined;
  readonly logged: string[] = [];
  readonly resync: Resync;
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));
  /** What Kafka knows of the servers: `finalPositions` commits it. */
  newest: ContinuityTimes = [];
  readonly results = {
    newestContinuity: () => Promise.resolve(this.newest),
    finalPositions: async (continuity: ContinuityTimes) => {
      this.begun += 1;
      this.newest = continuity;
      await this.#opened;
      return new Map([[0, 0]]);
    },
  };

  constructor(leaseMs = LEASE_MS) {
    const log = loggerTo((message) => this.logged.push(message));
    class Leased extends Resync {
      protected override readonly leaseMs = leaseMs;
      protected override readonly refusedMs = REFUSED_MS;
    }
    this.resync = new Leased(store, this.results, NO_DEFINITIONS, log);
  }
}

/** Waits until a lease that nobody renews would have expired, by the clock of Redis. */
async function leaseExpires(): Promise<void> {
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };
  const end = (await now()) + 1.5 * LEASE_MS;
  await until(async () => (await now()) > end, 'the lease would have expired');
}

describe('a resync', () => {
  it('that takes longer than a lease is done once, by the instance that began it, which renews the lease', async () => {
    const [first, second] = [new Instance(), new Instance()];
    const token = first.resync.continuity();
    await until(() => first.begun === 1, 'the first one resyncs');
    const same = second.resync.continuity();
    await leaseExpires();
    expect([first.begun, second.begun]).toEqual([1, 0]);
    first.open();
    expect(await token).toEqual(await same);
    expect([first.begun, second.begun]).toEqual([1, 0]);
    expect(await redis.exists(keys.resyncLease(0))).toBe(0);
  });

  it('is one for all shards that a loss has hit, so that publishers are fenced once', async () => {
    store = new ContinuityStore(redis, keys, { shards: 4 });
    const instance = new Instance();
    instance.open();
    const before = await instance.resync.continuity();
    expect(instance.begun).toBe(1);
    await redis.del(keys.continuity(1));
    await redis.del(keys.continuity(3));
    instance.resync.suspect(new StoreChangedError(1, before[1] ?? '', 'was emptied'));
    const after = await instance.resync.continuity();
    expect(instance.begun).toBe(2);
    expect(after.map((token, shard) => token === before[shard])).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(instance.logged.at(-1)).toBe('compared shard 1, 3 with Kafka: nothing is missing');
  });

  it('goes to another instance after the lease of a killed instance expires, and the killed instance cannot end it', async () => {
    // never renewed
    const killed = (await store.beginResync(0, await store.continuity(0), { ms: 400 }))!;
    const next = new Instance();
    const token = next.resync.continuity();
    await until(() => next.begun === 1, 'the other one resyncs');
    expect(await store.endResync(0, killed, new Map([[0, 9]]))).toBeUndefined();
    next.open();
    expect(await token).toEqual([(await store.continuity(0)).token]);
    expect(await store.recoveryTargets()).toEqual([]);
  });

  it('that fails can begin again at once in any instance, long before its lease expires', async () => {
    const [first, second] = [new Instance(3_600_000), new Instance()];
    const failure = new Error('Kafka is away');
    first.results.finalPositions = () => Promise.reject(failure);
    await expect(first.resync.continuity()).rejects.toBe(failure);
    second.open();
    expect(await second.resync.continuity()).toEqual([(await store.continuity(0)).token]);
  });

  it('begins again, with a warning, when the shard is emptied while it is under way', async () => {
    const instance = new Instance();
    const token = instance.resync.continuity();
    await until(() => instance.begun === 1, 'it resyncs');
    await redis.del(keys.continuity(0), keys.resyncLease(0));
    instance.open();
    expect(await token).toEqual([(await store.continuity(0)).token]);
    expect(instance.begun).toBe(2);
    expect(instance.logged[0]).toContain('shard 0 has changed while it was compared with Kafka');
  });

  it('ends with a later time than Kafka knows, which Kafka knows before it ends', async () => {
    const instance = new Instance();
    instance.open();
    const ahead = (Date.now() + 3_600_000) * 1_000;
    instance.newest = [ahead];
    const [token = ''] = await instance.resync.continuity();
    const [committed = 0] = instance.newest;
    expect(committed).toBeGreaterThan(ahead);
    expect(timeOf(token)).toBeGreaterThan(committed);
  });

  it('does not end if another server is resynced meanwhile: that one is newer', async () => {
    const instance = new Instance();
    const token = instance.resync.continuity();
    await until(() => instance.begun === 1, 'it resyncs');
    instance.newest = [(Date.now() + 3_600_000) * 1_000];
    instance.open();
    await expect(token).rejects.toBeInstanceOf(ReplacedServerError);
    expect((await store.continuity(0)).isContinued).toBe(false);
    expect(instance.begun).toBe(1);
  });

  it('of a server that another one has replaced is refused, until it was refused for long', async () => {
    const instance = new Instance();
    instance.open();
    const [token = ''] = await instance.resync.continuity();
    const later = (Date.now() + 3_600_000) * 1_000;
    instance.newest = [later];
    instance.resync.suspect(new StoreChangedError(0, token, 'is on another server'));
    let refusals = 0;
    const start = () =>
      instance.resync.continuity().catch((error: unknown) => {
        expect(error).toBeInstanceOf(ReplacedServerError);
        refusals += 1;
        instance.resync.suspect(error);
      });
    const began = performance.now();
    let taken: unknown;
    await until(async () => (taken = await start()) !== undefined, 'it takes over');
    expect(performance.now() - began).toBeGreaterThan(REFUSED_MS);
    expect(refusals).toBeGreaterThan(1);
    expect(timeOf(String(taken))).toBeGreaterThan(later);
    expect(instance.begun).toBe(2);
  });

  it('is done once if the clock of the server before was ahead', async () => {
    const instance = new Instance();
    instance.open();
    const ahead = `server ${(Date.now() + 3_600_000) * 1_000}`;
    instance.resync.suspect(new StoreChangedError(0, ahead, 'is on another server'));
    const waiting = instance.resync.continuity();
    await until(() => instance.begun >= 1, 'it resyncs');
    expect(await waiting).toEqual([(await store.continuity(0)).token]);
    expect(instance.begun).toBe(1);
  });
});
