import { Module } from '@nestjs/common';
import { BoardStore } from '#board-store';
import { Logger } from '../infra/logger.js';
import { Maintenance } from '../infra/maintenance.js';
import { ApplierFactory } from './applier.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { IngestController } from './ingest.controller.js';
import { LiveBoards } from './live-boards.js';
import { MisplacedRecords } from './misplaced-records.js';
import { PartitionIngestFactory } from './partition-ingest.js';
import { PartitionLogFactory } from './partition-log.js';
import { PublisherFactory } from './partition-publisher.js';
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
      inject: [LiveBoards, Resync, Logger],
      useFactory: createMaintenance,
    },
    ApplierFactory,
    PublisherFactory,
    PartitionLogFactory,
    PartitionIngestFactory,
    ProgressWatch,
  ],
})
export class IngestModule {}

function createMaintenance(boards: LiveBoards, resync: Resync, logger: Logger): Maintenance {
  const tasks = [
    {
      onFailure: 'expired views could not be removed',
      everyMs: 5_000,
      run: (signal: AbortSignal) => boards.deleteExpiredViews(logger, signal),
    },
    {
      onFailure: 'the recovery of shards could not be checked',
      everyMs: 5_000,
      run: () => resync.logRecovered(),
    },
  ];
  return new Maintenance(tasks, logger);
}
