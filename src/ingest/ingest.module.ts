import { Module } from '@nestjs/common';
import { BoardStore } from '#board-store';
import { ProgressWatch } from './progress-watch.js';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { Logger } from '../infra/logger.js';
import { Maintenance } from '../infra/maintenance.js';
import { BoardRegistrar } from '../reconciliation/boards/board-registrar.js';
import { RegistryModule } from '../reconciliation/boards/registry.module.js';
import { MetricsModule } from '../operations/metrics.module.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { IngestController } from './ingest.controller.js';
import { LiveBoards } from './live-boards.js';
import { MisplacedRecords } from './misplaced-records.js';
import { IngestServices } from './partition-ingest.js';
import { ResultLog } from './result-log.js';
import { Resync } from './resync.js';
import { ScoreLog } from './score-log.js';
import { TransportModule } from './transport.module.js';

/** The role `ingest`: score topic -> boards -> result topics. */
@Module({
  imports: [MetricsModule, RegistryModule, TransportModule],
  controllers: [IngestController],
  providers: [
    ScoreLog,
    ResultLog,
    DeadLetterReport,
    MisplacedRecords,
    {
      provide: LiveBoards,
      inject: [BoardStore, BoardRegistrar, PROCESS_OPTIONS],
      useFactory: (store: BoardStore, registrar: BoardRegistrar, { roles }: ProcessOptions) =>
        new LiveBoards(store, async () => {
          if (roles.includes('reconciliation')) await registrar.register();
        }),
    },
    Resync,
    {
      provide: Maintenance,
      inject: [LiveBoards, Logger],
      useFactory: (boards: LiveBoards, logger: Logger) =>
        new Maintenance([expiredViews(boards, logger)], logger),
    },
    IngestServices,
    ProgressWatch,
  ],
})
export class IngestModule {}

function expiredViews(boards: LiveBoards, logger: Logger) {
  return {
    onFailure: 'expired views could not be removed',
    everyMs: 5_000,
    run: (signal: AbortSignal) => boards.deleteExpiredViews(logger, signal),
  };
}
