import type { KafkaConnection } from '../../infra/kafka.js';
import type { DefinitionsTopic } from '../../infra/definitions-topic.js';
import type { Logger } from '../../infra/logger.js';
import type { Stores } from '../../infra/stores.js';
import type { RunProgress } from './progress.js';

/** The clients, stores and settings that all reconciliations of a process share. */
export interface ReconcilerParts
  extends
    Pick<Stores, 'store' | 'leases' | 'generations'>,
    Pick<KafkaConnection, 'kafka' | 'admin'> {
  /** The score topic. */
  readonly topic: string;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write'>;
  /** How long a replaced generation stays available for a rollback. */
  readonly graceMs: number;
  /** The default of `RunOptions.eventsPerSecond`. */
  readonly eventsPerSecond?: number | undefined;
  readonly logger: Logger;
}

export interface RunOptions {
  /** Cancels the reconciliation, which undoes its work, except promotions and kept shadows. */
  readonly signal: AbortSignal;
  /** Keeps shadows after an abort, so that the next reconciliation can continue them. */
  readonly keepsShadows?: boolean | undefined;
  /** The most records of the log to read per second, so that live ingest is not slowed down. */
  readonly eventsPerSecond?: number | undefined;
  /** Called twice a second, and when the work on a board ends. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}
