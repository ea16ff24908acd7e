import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { parseBoardsFile, resolveEvent, type BoardDefinition } from '#board';
import { IdentityCheck, type LiveBoard } from '#board-store';
import { ScoreProducer } from '#client';
import { decodeScoreEvent, type RankChange, type ScoreEvent } from '#contracts';
import { DefinitionsTopic } from '../../src/infra/definitions-topic.js';
import { Stores } from '../../src/infra/stores.js';
import { Reconciler } from '../../src/reconciliation/reconciler.js';
import { emptyMemory } from '../model/oracle-memory.js';
import { updatedState, type OracleState } from '../model/oracle-update.js';
import { Oracle } from '../model/oracle.js';
import { readBytes } from '../model/store-keys.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { loggerTo } from '../support/loggers.js';
import type { RedisServer } from '../support/redis-server.js';
import { causeOf, readCommitted, readRankChanges } from '../support/results.js';

/** What a boards file defines. */
export function definitionsOf(yaml: string): BoardDefinition[] {
  return parseBoardsFile(yaml, 'boards.yaml');
}

const DAY = 86_400_000;

/** A reconciler in this process that works with the Kafka and the Redis of a test instance. */
export class Sandbox extends Stores {
  readonly definitions: DefinitionsTopic;
  readonly reconciler: Reconciler;
  /** Log messages of the reconciler. */
  readonly words: string[] = [];

  constructor(
    readonly instance: TestInstance,
    readonly redis: Redis = instance.redis,
  ) {
    super(redis, { redisPrefix: instance.name, shards: 1 });
    const { kafka, admin, topics } = instance;
    const logger = loggerTo((word) => this.words.push(word));
    this.definitions = new DefinitionsTopic(
      instance,
      new IdentityCheck({ group: instance.name }),
      logger,
    );
    const { store, leases, generations, definitions } = this;
    const clients = { kafka, admin, topic: topics.scoreEvents, definitions };
    const stores = { store, leases, generations };
    this.reconciler = new Reconciler({ ...clients, ...stores, graceMs: DAY, logger });
  }

  /** Deletes all discarded generations. */
  async sweep(): Promise<void> {
    while ((await this.catalog.sweep()) > 0);
  }

  async live(board: string): Promise<LiveBoard> {
    const found = (await this.store.boards()).live.get(board);
    if (found === undefined) throw new Error(`board ${board} is not live`);
    return found;
  }

  /**
   * Views of a live board that differ from the oracle in any byte; computes the oracle unless given
   * one.
   */
  async wrongViews(definition: BoardDefinition, known?: Oracle): Promise<string[]> {
    const { board } = definition;
    const oracle = known ?? (await this.oracle(definition));
    const live = await this.live(board);
    const place = { keys: this.keys, shard: this.store.shardOf(board), live };
    const wrong: string[] = [];
    for (const view of oracle.views(board)) {
      const expected = oracle.bytes(board, view);
      const found = await readBytes(this.redis, place, view);
      if (JSON.stringify(sorted(found)) !== JSON.stringify(sorted(expected))) wrong.push(view);
    }
    return wrong;
  }

  /**
   * Applies the log to an oracle, for a definition whose views never expire. Computes states only:
   * the ranks of each event would take too long with a long log.
   */
  async oracle(definition: BoardDefinition): Promise<Oracle> {
    const { kafka, topics } = this.instance;
    const memory = emptyMemory();
    for (const record of await readCommitted(kafka, topics.scoreEvents)) {
      const decoded = decodeScoreEvent(record);
      if (!decoded.ok || decoded.event.board !== definition.board) continue;
      const resolved = resolveEvent(definition, decoded.event, record.timestamp);
      if (!resolved.ok) continue;
      for (const { view, expiresAt } of resolved.event.views) {
        const players = memory.views.get(view)?.players ?? new Map<string, OracleState>();
        const placed = memory.views.get(view)?.placed ?? new Set<string>();
        memory.views.set(view, { expiresAt, published: true, players, placed });
        const { playerId } = resolved.event;
        placed.add(playerId);
        const state = updatedState(definition, players.get(playerId), resolved.event);
        if (state !== 'outOfRange') players.set(playerId, state);
      }
    }
    return new Oracle([definition], new Map([[definition.board, memory]]));
  }
}

function sorted({ ranking, players }: Awaited<ReturnType<typeof readBytes>>) {
  return { ranking, players: Object.entries(players).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** Sends score events: a number of them at once, or continuously from `start` to `stop`. */
export class Traffic {
  sent = 0;
  #isStopping = false;
  #sending: Promise<void> | undefined;
  readonly #producer: ScoreProducer;

  constructor(
    instance: TestInstance,
    private readonly event: (serial: number) => ScoreEvent,
  ) {
    this.#producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
  }

  async send(count: number): Promise<void> {
    await this.#producer.connect();
    for (const end = this.sent + count; this.sent < end;) {
      const size = Math.min(1_000, end - this.sent);
      await this.#producer.send(Array.from({ length: size }, () => this.event(this.sent++)));
    }
  }

  /** Sends `events` events, pauses for `everyMs` ms, and repeats both until `stop`. */
  start(events: number, everyMs: number): void {
    this.#isStopping = false;
    this.#sending = (async () => {
      while (!this.#isStopping) {
        await this.send(events);
        await delay(everyMs);
      }
    })();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#sending;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#producer.disconnect();
  }
}

/**
 * An instance, a reconciler for it, and events for it. The tests of a file share a scene, or each
 * opens its own.
 */
export class Scene {
  service: RanklogProcess | undefined;
  readonly sandbox: Sandbox;
  readonly traffic: Traffic;

  private constructor(
    readonly instance: TestInstance,
    event: (serial: number) => ScoreEvent,
    private readonly ownRedis?: RedisServer,
  ) {
    this.sandbox = new Sandbox(instance, ownRedis?.redis);
    this.traffic = new Traffic(instance, event);
  }

  /** With `sent`, the service runs and has published that many events. */
  static async open(
    boards: string,
    event: (serial: number) => ScoreEvent,
    { ownRedis, partitions, sent }: SceneOptions = {},
  ): Promise<Scene> {
    const env = ownRedis && { REDIS_URL: `redis://127.0.0.1:${ownRedis.port}` };
    const options = { ...(env && { env }), ...(partitions && { partitions }) };
    const scene = new Scene(await TestInstance.create(boards, options), event, ownRedis);
    if (sent !== undefined) {
      await scene.start();
      await scene.send(sent);
    }
    return scene;
  }

  async start(): Promise<RanklogProcess> {
    return (this.service = await this.instance.start());
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.service?.kill(signal);
    await this.service?.ended;
  }

  /** Sends `count` events, and waits until all sent so far are published. */
  async send(count: number): Promise<void> {
    await this.traffic.send(count);
    await until(
      async () => (await this.instance.publishedCount()) >= this.traffic.sent,
      'all is published',
    );
  }

  /** Runs a command to its end. */
  async ranklog(...args: string[]): Promise<Ended> {
    return ended(this.instance.spawn(...args));
  }

  /** What a command prints with --json. */
  async json<T = unknown>(...args: string[]): Promise<T> {
    const { out, err } = await this.ranklog(...args, '--json');
    if (out === '') throw new Error(`ranklog ${args.join(' ')}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Replaces the boards file. */
  writeBoards(yaml: string): Promise<void> {
    return writeFile(this.instance.env['RANKLOG_BOARDS'] ?? '', yaml);
  }

  /** Reads the rank changes; checks that no two have the same cause. */
  async rankChanges(): Promise<RankChange[]> {
    const changes = await readRankChanges(this.instance.kafka, this.instance.topics);
    expect(new Set(changes.map(causeOf)).size).toBe(changes.length);
    return changes;
  }

  /**
   * Stops the traffic. Checks that each event gave at most one rank change, and that the boards
   * equal builds from the log.
   */
  async expectExact(yaml: string): Promise<RankChange[]> {
    await this.traffic.stop();
    await this.send(0);
    for (const definition of definitionsOf(yaml))
      expect(await this.sandbox.wrongViews(definition)).toEqual([]);
    return this.rankChanges();
  }

  async close(): Promise<void> {
    await this.traffic.close();
    await this.instance.remove();
    await this.ownRedis?.remove();
  }
}

interface SceneOptions {
  /** A Redis for this scene alone, which `close` removes. */
  readonly ownRedis?: RedisServer;
  readonly partitions?: number;
  readonly sent?: number;
}

/** How a command ended. */
export interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export async function ended(child: RanklogProcess): Promise<Ended> {
  const code = await child.ended;
  return { code, out: child.output, err: child.errors };
}

/** Options of a reconciliation that nothing cancels. */
export const RUN = { signal: new AbortController().signal };
