import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { topicNames } from '#contracts';
import { UnreadableBatchError, type ConsumerHealth } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { RecurringTask } from '../infra/recurring-task.js';
import { isOfClusterItself, RedisClients } from '../infra/redis.js';
import { Shutdown } from '../infra/shutdown.js';
import { isStopped, NeedsOperatorError } from './ingest-errors.js';

const MAX_INTERVAL_MS = 5_000;

/**
 * Ends a process that makes no progress, so that its supervisor starts another one. While other
 * partitions run, a partition that has stopped permanently or needs operator action is no reason to
 * end it. Two things are never a reason, as another process would not get further either: a batch
 * that can't be read, and a Redis Cluster that itself says that a shard waits. Until it no longer
 * says so, and while the process itself was suspended, time does not count.
 */
@Injectable()
export class ProgressWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #topic: string;
  readonly #everyMs: number;
  readonly #checks: RecurringTask;
  #lastCheck = 0;
  #countedFrom = 0;
  /** Since when every partition has stopped permanently or needs operator action. */
  #allStoppedSince: number | undefined;

  constructor(
    private readonly transport: KafkaBatchServer,
    private readonly clients: RedisClients,
    private readonly shutdown: Shutdown,
    @Inject(PROCESS_OPTIONS) private readonly options: Pick<ProcessOptions, 'settings' | 'logger'>,
  ) {
    const { settings } = options;
    this.#topic = topicNames(settings.topicPrefix).scoreEvents;
    this.#everyMs = Math.min(settings.stallTimeout / 4, MAX_INTERVAL_MS);
    this.#checks = new RecurringTask(() => this.#check(), this.#everyMs);
  }

  onApplicationBootstrap(): void {
    const now = performance.now();
    this.#lastCheck = now;
    this.#countedFrom = now;
    this.#checks.start();
  }

  beforeApplicationShutdown(): void {
    void this.#checks.stop();
  }

  async #check(): Promise<void> {
    const now = performance.now();
    if (now - this.#lastCheck > 2 * this.#everyMs) this.#countedFrom = now;
    const health = this.transport.health();
    if (await this.#clusterWaits(health)) this.#countedFrom = now;
    this.#lastCheck = performance.now(); // nodes may be slow to say that

    const reason = this.#stall(health, now);
    if (reason === undefined) return;
    void this.#checks.stop();
    this.options.logger.error(`${reason}; ending, so that another process can continue`);
    this.shutdown.fail();
  }

  #clusterWaits({ partitions }: ConsumerHealth): Promise<boolean> {
    const stuck = [...partitions.values()].filter(({ stuckMs }) => stuckMs > 0);
    return isOfClusterItself(
      this.clients.main,
      stuck.map(({ error }) => error),
    );
  }

  /** The reason why the process makes no progress; undefined if it makes progress. */
  #stall({ loopAgeMs, partitions }: ConsumerHealth, now: number): string | undefined {
    if (this.#isTooLong(loopAgeMs, now))
      return `nothing was fetched from ${this.#topic} for ${seconds(loopAgeMs)}`;

    for (const [partition, { state, error, stuckMs }] of partitions) {
      if (!this.#isTooLong(stuckMs, now) || error instanceof NeedsOperatorError) continue;
      const last = error === undefined ? 'no error' : `last error: ${error.message}`;
      return (
        `${this.#topic}/${partition} (${state}) has made no progress for ${seconds(stuckMs)}; ` +
        last
      );
    }
    return this.#allStopped(partitions, now);
  }

  /** A new process may help unless all partitions have stopped at batches that can't be read. */
  #allStopped(partitions: ConsumerHealth['partitions'], now: number): string | undefined {
    const stopped = [...partitions].filter(([, health]) => isStopped(health));
    const mayHelp = stopped.some(([, { error }]) => !(error instanceof UnreadableBatchError));
    if (!mayHelp || stopped.length < partitions.size) {
      this.#allStoppedSince = undefined;
      return undefined;
    }

    this.#allStoppedSince ??= now;
    if (!this.#isTooLong(now - this.#allStoppedSince, now)) return undefined;

    const reasons = stopped.map(
      ([partition, { error }]) => `${partition}: ${error?.message ?? ''}`,
    );
    return `all partitions of ${this.#topic} in this process are stopped (${reasons.join('; ')})`;
  }

  #isTooLong(ms: number, now: number): boolean {
    return Math.min(ms, now - this.#countedFrom) >= this.options.settings.stallTimeout;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
