import type { Admin, Kafka } from 'kafkajs';
import type { BoardStore, GenerationStore, LeaseStore } from '#board-store';
import type { DefinitionsTopic } from './definitions-topic.js';
import type { Log } from './log.js';
import type { RunProgress } from './run-progress.js';

/** What reconciliation works with. */
export interface ReconcilerParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** The score topic. */
  readonly topic: string;
  readonly store: BoardStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write'>;
  /** How long a generation that is live no more can be brought back. */
  readonly graceMs: number;
  /** Records of the log a second that a run keeps to which says nothing else. */
  readonly eventsPerSecond?: number | undefined;
  readonly logger: Log;
}

export interface RunOptions {
  /** Aborted, the run ends, and all is as it was. */
  readonly signal: AbortSignal;
  /** What was built stays when the signal is aborted: the next run goes on with it. */
  readonly keepsShadows?: boolean | undefined;
  /** Records of the log, at most so many a second: what live ingest does meanwhile takes no longer than without. */
  readonly eventsPerSecond?: number | undefined;
  /** Hears twice a second how far the run is. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}
