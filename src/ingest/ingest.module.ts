import { Module } from '@nestjs/common';
import { BoardStore } from '#board-store';
import { Logger } from '../infra/logger.js';
import { Maintenance } from '../infra/maintenance.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { IngestController } from './ingest.controller.js';
import { LiveBoards } from './live-boards.js';
import { MisplacedRecords } from './misplaced-records.js';
import { IngestServices } from './partition-ingest.js';
import { ProgressWatch } from './progress-watch.js';
import { ResultLog } from './result-log.js';
import { Resync } from './resync.js';
import { ScoreLog } from './score-log.js';
import { TransportModule } from './transport.module.js';

/** The role `ingest`: score topic -> boards -> result topics. */
@Module({
  imports: [TransportModule],
  controllers: [IngestController],
  providers: [
    ScoreLog,
    ResultLog,
    DeadLetterReport,
    MisplacedRecords,
    {
      provide: LiveBoards,
      inject: [BoardStore],
      useFactory: (store: BoardStore) => new LiveBoards(store),
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
