import type { Redis } from 'ioredis';
import { resolveEvent, type BoardDefinition } from '#board';
import {
  GenerationStore,
  KeySpace,
  LeaseStore,
  type EventEntry,
  type Lease,
  type Stretch,
} from '#board-store';
import { decodeScoreEvent } from '#contracts';
import type { TestInstance } from '../support/instance.js';
import { readCommitted, type ReadRecord } from '../support/results.js';

/** A builder that does nothing but promotions and removals in the Redis of an instance: it never writes them to Kafka. */
export class HandPromotion {
  readonly #generations: GenerationStore;
  readonly #leases: LeaseStore;

  constructor(
    private readonly instance: TestInstance,
    redis: Redis,
  ) {
    const keys = new KeySpace(instance.name);
    this.#generations = new GenerationStore(redis, keys, { shards: 1 });
    this.#leases = new LeaseStore(redis, keys, { shards: 1 });
  }

  /** Builds a board from what the log holds, and makes it live; answers the generation and its promotion in us. */
  async promote(definition: BoardDefinition) {
    const { kafka, topics } = this.instance;
    const records = await readCommitted(kafka, topics.scoreEvents);
    return this.#withLease(definition.board, async (lease) => {
      const shadow = await this.#generations.begin(lease, { definition, purpose: 'build' });
      const stretches = stretchesOf(records, definition);
      const outcome = await this.#generations.promote(lease, shadow, stretches, {
        graceMs: 60_000,
      });
      if (outcome.status !== 'applied' || outcome.ending === undefined)
        throw new Error(`the promotion did not happen: ${JSON.stringify(outcome)}`);
      return { ...shadow, since: outcome.ending.since };
    });
  }

  /** Answers when, in us. */
  remove(board: string): Promise<number> {
    return this.#withLease(board, (lease) => this.#generations.remove(lease));
  }

  forget(board: string): Promise<void> {
    return this.#withLease(board, (lease) => this.#generations.unregister(lease));
  }

  async #withLease<T>(board: string, work: (lease: Lease) => Promise<T>): Promise<T> {
    const lease = await this.#leases.acquire(board, 'test');
    try {
      return await work(lease);
    } finally {
      await this.#leases.release(lease);
    }
  }
}

function stretchesOf(records: readonly ReadRecord[], definition: BoardDefinition): Stretch[] {
  const partitions = [...new Set(records.map(({ partition }) => partition))];
  return partitions.map((partition) => {
    const ofPartition = records.filter((record) => record.partition === partition);
    return {
      partition,
      from: 0,
      through: ofPartition.at(-1)?.offset ?? -1,
      entries: ofPartition.flatMap((record) => toEntry(record, definition)),
    };
  });
}

function toEntry(record: ReadRecord, definition: BoardDefinition): EventEntry[] {
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok || decoded.event.board !== definition.board) return [];
  const { offset, timestamp } = record;
  const resolved = resolveEvent(definition, decoded.event, timestamp);
  if (!resolved.ok) throw new Error(resolved.rejection.detail);
  return [{ kind: 'event', offset, board: definition.board, event: resolved.event }];
}
