import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { parseBoardsFile, resolveEvent, type BoardDefinition } from '#board';
import {
  BoardStore,
  GenerationCatalog,
  GenerationStore,
  IdentityCheck,
  KeySpace,
  LeaseStore,
  type LiveBoard,
} from '#board-store';
import { ScoreProducer } from '#client';
import { decodeScoreEvent, type ScoreEvent } from '#contracts';
import { DefinitionsTopic } from '../../src/registry/definitions-topic.js';
import { Reconciler } from '../../src/maintenance/reconciler.js';
import { emptyMemory } from '../model/oracle-board.js';
import { updatedState, type OracleState } from '../model/oracle-update.js';
import { Oracle } from '../model/oracle.js';
import { readBytes } from '../model/store-keys.js';
import { TestInstance, until } from '../support/instance.js';
import { loggerTo } from '../support/loggers.js';
import type { RedisServer } from '../support/redis-server.js';
import { readCommitted } from '../support/results.js';

/** What a boards file defines. */
export function definitionsOf(yaml: string): BoardDefinition[] {
  return parseBoardsFile(yaml, 'boards.yaml');
}

const DAY = 86_400_000;

/** A reconciler in this process, beside the services of a test instance. */
export class Sandbox {
  readonly store: BoardStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly catalog: GenerationCatalog;
  readonly keys: KeySpace;
  readonly definitions: DefinitionsTopic;
  readonly reconciler: Reconciler;
  /** Log messages of the reconciler. */
  readonly words: string[] = [];

  constructor(
    readonly instance: TestInstance,
    readonly redis: Redis = instance.redis,
    readonly shards = 1,
  ) {
    const { kafka, admin, topics } = instance;
    this.keys = new KeySpace(instance.name);
    this.store = new BoardStore(redis, this.keys, { shards });
    this.leases = new LeaseStore(redis, this.keys, { shards });
    this.generations = new GenerationStore(redis, this.keys, { shards });
    const { store, leases, generations } = this;
    this.catalog = new GenerationCatalog(redis, this.keys, { shards });
    const logger = loggerTo((word) => this.words.push(word));
    this.definitions = new DefinitionsTopic(kafka, admin, topics.definitions, {
      log: logger,
      identity: new IdentityCheck({}),
    });
    const topic = topics.scoreEvents;
    const clients = { kafka, admin, topic, definitions: this.definitions };
    this.reconciler = new Reconciler({
      ...clients,
      store,
      leases,
      generations,
      graceMs: DAY,
      logger,
    });
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

  /** Views of a live board that differ in a byte from what the log makes of a definition; computes the oracle unless given one. */
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
   * What the log makes of a definition whose views stay: states alone, without the ranks of each event, for which an
   * oracle takes too long with a long log.
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
        memory.views.set(view, { expiresAt, published: true, players });
        const { playerId } = resolved.event;
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

/** Sends score events, continuously from `start` to `stop`. */
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

  /** Sends so many events. */
  async send(count: number): Promise<void> {
    await this.#producer.connect();
    for (const end = this.sent + count; this.sent < end;) {
      const size = Math.min(1_000, end - this.sent);
      await this.#producer.send(Array.from({ length: size }, () => this.event(this.sent++)));
    }
  }

  /** Sends so many events every so many ms, until `stop`. */
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

export interface Scene {
  readonly instance: TestInstance;
  readonly sandbox: Sandbox;
  readonly traffic: Traffic;
}

/** An instance without services yet, a reconciler beside it, and events for it; on a Redis of its own, if one is given. */
export async function openScene(
  boards: string,
  event: (serial: number) => ScoreEvent,
  { own, partitions }: { own?: RedisServer; partitions?: number } = {},
): Promise<Scene> {
  const env = own === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${own.port}` };
  const instance = await TestInstance.create(boards, { env, ...(partitions && { partitions }) });
  const sandbox = new Sandbox(instance, own?.redis);
  return { instance, sandbox, traffic: new Traffic(instance, event) };
}

export async function closeScene({ instance, traffic }: Scene): Promise<void> {
  await traffic.close();
  await instance.remove();
}

/** A signal that is never aborted. */
export const UNTIL_DONE = new AbortController().signal;

/** Waits until ingest has published all that was sent. */
export async function published(instance: TestInstance, traffic: Traffic): Promise<void> {
  await until(
    async () => (await instance.publishedCount()) >= traffic.sent,
    'all is published',
    120,
  );
}
