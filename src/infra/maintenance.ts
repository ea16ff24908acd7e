import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { toError } from '#errors';
import type { Logger } from './logger.js';
import { RecurringTask } from './recurring-task.js';

export interface MaintenanceTask {
  /** The log message of a failure; the reason follows it. */
  readonly onFailure: string;
  readonly everyMs: number;
  /** Must be safe to run in several processes at once. May end early after an abort. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Runs tasks, each at its own interval and one turn at a time, from the end of Nest's bootstrap
 * until the shutdown begins. Logs a failure once, until its reason changes or the task succeeds.
 * States: stopped, then running.
 */
export class Maintenance implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #stopping = new AbortController();
  readonly #tasks: readonly RecurringTask[];

  constructor(
    tasks: readonly MaintenanceTask[],
    private readonly logger: Logger,
  ) {
    this.#tasks = tasks.map((task) => this.#recurring(task));
  }

  onApplicationBootstrap(): void {
    for (const task of this.#tasks) task.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  #recurring({ onFailure, everyMs, run }: MaintenanceTask): RecurringTask {
    let logged: string | undefined;
    return new RecurringTask(async () => {
      try {
        await run(this.#stopping.signal);
        logged = undefined;
      } catch (error) {
        const reason = toError(error).message;
        if (reason !== logged) this.logger.warn(`${onFailure}: ${reason}`);
        logged = reason;
      }
    }, everyMs);
  }
}
