import { toError } from '#kafka-batch';
import { RecurringTask } from '../operations/recurring-task.js';
import type { DefinitionsTopic } from './definitions-topic.js';

/** The words of the mender go here. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** Compaction takes longer to come by: it leaves the end of a log alone. */
const LOOK_EVERY_MS = 60_000;

/** Sees that the last record of each board in the definitions topic is what is in force: compaction keeps that one alone. */
export class DefinitionsMender {
  readonly #looks: RecurringTask;

  constructor(
    private readonly definitions: Pick<DefinitionsTopic, 'mend'>,
    private readonly log: Log,
    everyMs = LOOK_EVERY_MS,
  ) {
    this.#looks = new RecurringTask(() => this.#look(), everyMs);
  }

  start(): void {
    this.#looks.start();
  }

  /** Ends with the look in hand. */
  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<void> {
    try {
      for (const board of await this.definitions.mend())
        this.log.info(
          `board "${board}": its definition is written to Kafka again, as an older one came after it`,
        );
    } catch (error) {
      this.log.warn(`the definitions in Kafka could not be looked at: ${toError(error).message}`);
    }
  }
}
