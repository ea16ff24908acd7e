import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { KafkaBatchServer, type KafkaBatchServerOptions } from '#kafka-batch/nest';
import { Maintenance } from '../maintenance/maintenance.js';
import type { Parts } from '../parts.js';
import { IngestController } from './ingest.controller.js';
import { LiveBoards, NoLiveBoardsError } from './live-boards.js';
import { Resync } from './resync.js';
import { IngestServices } from './partition-ingest.js';
import type { PartitionWaits } from './partition-waits.js';
import { ResultLog, ResultPartitionMissingError } from './result-log.js';
import { ScoreLog } from './score-log.js';

interface IngestOptions {
  /** Whether this process registers boards that Redis has lost. */
  readonly registers: boolean;
  readonly waits: PartitionWaits;
}

/** The role `ingest`: score topic -> boards -> result topics. Its transport is that of `ingestTransport`. */
@Module({})
export class IngestModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static of(parts: Parts, { registers, waits }: IngestOptions): DynamicModule {
    const { settings, logger, kafka, admin, topics, store, continuity, definitions, registrar } =
      parts;
    const boards = new LiveBoards(store, async () => {
      if (registers) await registrar.register();
    });
    const scoreLog = new ScoreLog(kafka, topics.scoreEvents);
    const resultLog = new ResultLog(kafka, admin, settings);
    const kafkaSays = {
      finalPositions: async () => resultLog.finalPositions(await scoreLog.partitions(), store),
      definitionRecords: () => definitions.readAll(),
    };
    const resync = new Resync(continuity, kafkaSays, logger);
    const sweep = {
      onFailure: 'expired views could not be removed',
      everyMs: 5_000,
      run: (signal: AbortSignal) => boards.deleteExpiredViews(logger, signal),
    };
    return IngestModule.with(
      { store, continuity, boards, resync, waits, scoreLog, resultLog },
      new Maintenance([sweep], logger),
    );
  }

  static with(services: IngestServices, maintenance: Maintenance): DynamicModule {
    return {
      module: IngestModule,
      controllers: [IngestController],
      providers: [
        { provide: IngestServices, useValue: services },
        { provide: Maintenance, useValue: maintenance },
      ],
    };
  }

  constructor(private readonly maintenance: Maintenance) {}

  onApplicationBootstrap(): void {
    this.maintenance.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.maintenance.stop();
  }
}

export function ingestTransport(
  { settings, logger, kafka, topics }: Parts,
  onFatal: KafkaBatchServerOptions['onFatal'],
): KafkaBatchServer {
  return new KafkaBatchServer({
    kafka,
    groupId: settings.group,
    topic: topics.scoreEvents,
    consumer: {
      sessionTimeout: settings.sessionTimeout,
      heartbeatInterval: Math.min(1_000, settings.sessionTimeout / 3),
    },
    connectTimeoutMs: settings.startTimeout,
    logger,
    onFatal,
  });
}

/** Whether the partition needs operator action, which a new process would need as well. */
export function needsOperator(error: Error): boolean {
  return error instanceof ResultPartitionMissingError || error instanceof NoLiveBoardsError;
}
