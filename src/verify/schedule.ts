import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { CronJob } from 'cron';
import { toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import type { ScheduledVerify } from './scheduled-verify.js';

export interface VerifyScheduleOptions {
  /** Empty for never. */
  readonly expression: string;
  readonly timeZone: string;
  readonly verify: Pick<ScheduledVerify, 'run'>;
  readonly log: Logger;
}

/** Processes with the same schedule begin a turn within this time of each other. */
const SAME_TURN_MS = 60_000;

/**
 * Verifies at set times; skips a turn while the one before is still running. Nest starts and stops it.
 * States: stopped, then waiting or verifying.
 */
export class VerifySchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #stopping = new AbortController();
  #job: { stop(): Promise<void> | undefined } | undefined;
  #turn: Promise<void> | undefined;

  constructor(private readonly options: VerifyScheduleOptions) {}

  onApplicationBootstrap(): void {
    const { expression, timeZone } = this.options;
    if (expression === '') return;
    const job: CronJob = CronJob.from({
      cronTime: expression,
      timeZone,
      onTick: () => {
        this.#turn ??= this.#run(job).finally(() => (this.#turn = undefined));
      },
      unrefTimeout: true,
    });
    this.#job = job;
    job.start();
  }

  /** Cancels a running turn. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    await this.#job?.stop();
    await this.#turn;
  }

  async #run(job: CronJob): Promise<void> {
    const { verify, log } = this.options;
    const now = Date.now();
    const untilNext = job.nextDate().toMillis() - now;
    const sameTurnMs = Math.min(SAME_TURN_MS, untilNext / 2);
    try {
      await verify.run({ signal: this.#stopping.signal, begun: now, sameTurnMs });
    } catch (error) {
      log.error(`the scheduled verify failed: ${toError(error).message}`, { error });
    }
  }
}
