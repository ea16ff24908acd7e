import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CronJob } from 'cron';
import { toError } from '#kafka-batch';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { Logger } from '../infra/logger.js';
import { ScheduledVerify } from './scheduled-verify.js';

/** Processes with the same schedule begin a turn within this time of each other. */
const SAME_TURN_MS = 60_000;

/**
 * Verifies at set times; skips a turn while the previous one is still running. Nest starts and stops it.
 * States: stopped, then waiting or verifying.
 */
@Injectable()
export class VerifySchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #stopping = new AbortController();
  #job: CronJob | undefined;

  constructor(
    private readonly verify: ScheduledVerify,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const { verifySchedule, verifyTimeZone: timeZone } = this.settings;
    if (verifySchedule === '') return;
    const job: CronJob = CronJob.from({
      cronTime: verifySchedule,
      timeZone,
      onTick: () => this.#run(job),
      waitForCompletion: true, // the next tick and `stop` wait until a run has ended
      unrefTimeout: true,
    });
    this.#job = job;
    job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    await this.#job?.stop();
  }

  async #run(job: CronJob): Promise<void> {
    const now = Date.now();
    const untilNext = job.nextDate().toMillis() - now;
    const sameTurnMs = Math.min(SAME_TURN_MS, untilNext / 2);
    try {
      await this.verify.run({ signal: this.#stopping.signal, begun: now, sameTurnMs });
    } catch (error) {
      this.logger.error(`the scheduled verify failed: ${toError(error).message}`, { error });
    }
  }
}
