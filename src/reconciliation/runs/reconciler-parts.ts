import type { KafkaConnection } from '../../infra/kafka.js';
import type { DefinitionsTopic } from '../../infra/definitions-topic.js';
import type { Logger } from '../../infra/logger.js';
import type { Stores } from '../../infra/stores.js';
import type { RunProgress } from './progress.js';

/** What all reconciliations of a process work with. */
export interface ReconcilerParts
  extends
    Pick<Stores, 'store' | 'leases' | 'generations'>,
    Pick<KafkaConnection, 'kafka' | 'admin'> {
  /** The score topic. */
  readonly topic: string;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write'>;
  /** How long a generation stays available for a rollback after another one has replaced it. */
  readonly graceMs: number;
  /**
   * The most records of the log to read per second, for reconciliations that set no limit of their
   * own.
   */
  readonly eventsPerSecond?: number | undefined;
  readonly logger: Logger;
}

export interface RunOptions {
  /**
   * Cancels the reconciliation, which undoes what it did, except promotions and what `keepsShadows`
   * keeps.
   */
  readonly signal: AbortSignal;
  /**
   * Keeps the shadows when the signal is aborted, so that the next reconciliation can continue
   * them.
   */
  readonly keepsShadows?: boolean | undefined;
  /** The most records of the log to read per second, so that live ingest is not slowed down. */
  readonly eventsPerSecond?: number | undefined;
  /** Called twice a second, and when a board ends. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}
