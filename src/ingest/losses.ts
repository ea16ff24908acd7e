import { setTimeout as delay } from 'node:timers/promises';
import { LEASE_MS, type ContinuityStore } from '#board-store';
import type { Comparison, Continuity, RecordIdentity } from '#board-store';
import type { DefinitionInForce } from '#contracts';
import type { Logger } from '../operations/logger.js';
import { RecurringTask } from '../operations/recurring-task.js';
import { healTargetsText } from './heal-targets-text.js';

/** How often it is looked whether somebody else has ended a comparison. */
const ASK_AGAIN_MS = 100;

/** What of the boards is in Kafka. */
export interface KeptInKafka {
  /** Fences all publishers and answers the published position of every partition. */
  finalPositions(): Promise<ReadonlyMap<number, number>>;
  /** By board. */
  definitionsInForce(): Promise<ReadonlyMap<string, DefinitionInForce>>;
}

/** A shard is not what its caller believed: it has lost writes, or has been compared with Kafka since. Starting anew helps. */
export class StoreChangedError extends Error {
  /** `continuity` is the token that was believed in. */
  constructor(
    readonly shard: number,
    readonly continuity: string,
    why: string,
  ) {
    super(`shard ${shard} of the boards ${why}; looking at what it has lost`);
    this.name = 'StoreChangedError';
  }
}

/**
 * Finds out what Redis has lost, and sets the heal targets. A partition starts with the tokens that `continuity` gives;
 * whoever meets a sign of a loss tells `suspect`, and starts anew.
 *
 * A comparison fences the publishers of all partitions first: results that were drawn before the loss are then in Kafka,
 * below a heal target, or in the outbox that Redis still has, or never will be published. So no rank is drawn without
 * the events whose results subscribers have. And none is drawn by a definition that is in force no more: a shard from before
 * a flip is emptied.
 */
export class Losses {
  /** Shards with a sign of a loss, and the token that was believed in then: with a later one, somebody has looked already. */
  readonly #suspected = new Map<number, string>();
  /** Shards that were below their heal targets and are not logged as healed yet. */
  readonly #healing = new Set<number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: ContinuityStore,
    private readonly kafka: KeptInKafka,
    private readonly log: Logger,
    private readonly leaseMs = LEASE_MS,
  ) {}

  /** Takes note of a sign of a loss; of other errors, none. */
  suspect(error: unknown): void {
    if (!(error instanceof StoreChangedError)) return;
    const { shard, continuity } = error;
    const before = this.#suspected.get(shard);
    if (before === undefined || timeOf(continuity) > timeOf(before))
      this.#suspected.set(shard, continuity);
  }

  /** The token of each shard, compared with Kafka where that is due. One at a time in a process: partitions start together. */
  continuity(): Promise<string[]> {
    const tokens = this.#turn.catch(() => undefined).then(() => this.#tokens());
    this.#turn = tokens;
    return tokens;
  }

  /** The last applied record of a partition; undefined when there is none. */
  lastRecord(partition: number): Promise<RecordIdentity | undefined> {
    return this.store.lastRecord(partition);
  }

  /** See ContinuityStore. */
  checkedRecord(partition: number): Promise<RecordIdentity | undefined> {
    return this.store.checkedRecord(partition);
  }

  /** See ContinuityStore. */
  keepCheckedRecord(partition: number, record: RecordIdentity): Promise<void> {
    return this.store.keepCheckedRecord(partition, record);
  }

  /** Whether a partition below its published position is known to be: somebody has set its heal target. */
  async isHealing(shard: number, partition: number, published: number): Promise<boolean> {
    const targets = await this.store.healing();
    const isHealing = targets.some(
      (found) =>
        found.shard === shard && found.partition === partition && found.target >= published,
    );
    if (isHealing) this.#healing.add(shard);
    return isHealing;
  }

  /** Logs once when a shard that this process saw healing has healed. Cost: none while no shard heals. */
  async noteHealed(): Promise<void> {
    const seen = [...this.#healing];
    if (seen.length === 0) return;
    const unhealed = new Set((await this.store.healing()).map(({ shard }) => shard));
    for (const shard of seen)
      if (!unhealed.has(shard) && this.#healing.delete(shard))
        this.log.info(`shard ${shard} has healed: every partition has reached its heal target`);
  }

  async #tokens(): Promise<string[]> {
    const tokens: string[] = [];
    for (const shard of this.store.shards) tokens.push(await this.#token(shard));
    return tokens;
  }

  async #token(shard: number): Promise<string> {
    for (;;) {
      const seen = await this.store.continuity(shard);
      const believed = this.#suspected.get(shard);
      const isLater = believed === undefined || timeOf(seen.token) > timeOf(believed);
      const token = seen.isContinued && isLater ? seen.token : await this.#compare(shard, seen);
      if (token === undefined) {
        await delay(ASK_AGAIN_MS); // somebody else compares it
        continue;
      }
      this.#suspected.delete(shard);
      return token;
    }
  }

  /** Renews its lease until it ends. Releases the lease also on failure, so that any process may begin again at once. */
  async #compare(shard: number, seen: Continuity): Promise<string | undefined> {
    const begun = await this.store.begin(shard, seen, this.leaseMs);
    if (begun === undefined) return undefined;
    const renew = () => this.store.renew(begun).catch(() => undefined); // if Redis is down, `heal` fails too
    const renewal = new RecurringTask(renew, this.leaseMs / 4);
    renewal.start();
    try {
      return await this.#end(shard, begun);
    } finally {
      await renewal.stop();
      await this.store.release(begun).catch(() => undefined); // else it expires
    }
  }

  async #end(shard: number, begun: Comparison): Promise<string | undefined> {
    const positions = await this.kafka.finalPositions();
    const inForce = await this.kafka.definitionsInForce();
    const healed = await this.store.heal(shard, begun, positions, inForce);
    if (healed === undefined) {
      this.log.warn(
        `shard ${shard} has changed while it was compared with Kafka: Redis lost events again, its boards changed, ` +
          'or this process paused and another one took over; checking whether it must be compared again',
      );
      return undefined;
    }
    await this.#tell(shard, healed.outdated);
    return healed.token;
  }

  async #tell(shard: number, outdated: readonly string[]): Promise<void> {
    const healing = (await this.store.healing()).filter((target) => target.shard === shard);
    if (outdated.length > 0)
      this.log.warn(
        `shard ${shard} is from before the last change of board ${outdated.join(', ')}: all that it holds is discarded, ` +
          'and made again from the log by the definitions in force',
      );
    else if (healing.length === 0)
      this.log.info(`shard ${shard} was compared with Kafka: nothing is missing`);
    if (healing.length === 0) return;
    this.#healing.add(shard);
    this.log.warn(
      `shard ${shard} has lost events whose results are published; applying them again before any new event: ` +
        healTargetsText(healing),
    );
  }
}

/** When a token was given, in us of the server's clock. */
function timeOf(token: string): number {
  return Number(token.slice(token.indexOf(' ') + 1));
}
