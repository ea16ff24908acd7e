// To add a maintenance task: add it to the list in `createMaintenance`, with its interval and the
// log message of a failure.

import { Module, type OnModuleInit } from '@nestjs/common';
import { PROCESS_OPTIONS } from '../infra/config.module.js';
import { DefinitionsTopic } from '../infra/definitions-topic.js';
import { KafkaConnection } from '../infra/kafka.js';
import { Logger } from '../infra/logger.js';
import { Maintenance, type MaintenanceTask } from '../infra/maintenance.js';
import { Stores } from '../infra/stores.js';
import { BackgroundBuilder } from './background-builder.js';
import { BoardRegistrar } from './boards/board-registrar.js';
import { PeriodAnnouncer, PeriodMaintenance } from './periods/period-announcer.js';
import { PeriodServices } from './periods/period-services.js';
import { createReconciler, Reconciler } from './reconciler.js';
import { ScheduledVerify } from './scheduled-verify.js';

/**
 * The role `reconciliation`: registers boards before ingest reads the score topic, builds new ones,
 * verifies on a schedule, and announces results.
 */
@Module({
  providers: [
    BoardRegistrar,
    {
      provide: Reconciler,
      inject: [Stores, KafkaConnection, DefinitionsTopic, PROCESS_OPTIONS],
      useFactory: createReconciler,
    },
    BackgroundBuilder,
    {
      provide: Maintenance,
      inject: [BoardRegistrar, BackgroundBuilder, Stores, Logger],
      useFactory: createMaintenance,
    },
    ScheduledVerify,
    PeriodServices,
    PeriodAnnouncer,
    PeriodMaintenance,
  ],
})
export class ReconciliationModule implements OnModuleInit {
  constructor(private readonly registrar: BoardRegistrar) {}

  async onModuleInit(): Promise<void> {
    await this.registrar.register();
  }
}

function createMaintenance(
  registrar: BoardRegistrar,
  builder: BackgroundBuilder,
  { catalog }: Stores,
  logger: Logger,
): Maintenance {
  const tasks: MaintenanceTask[] = [
    {
      onFailure: "the boards can't be kept registered",
      everyMs: 2_000, // ingest in other processes waits for boards that Redis has lost
      run: () => registrar.keepRegistered(),
    },
    {
      onFailure: "boards can't be built now",
      everyMs: 2_000,
      run: (signal) => builder.build(signal),
    },
    {
      onFailure: 'discarded generations could not be deleted',
      everyMs: 5_000,
      run: async (signal) => {
        let steps = 1;
        while (steps > 0 && !signal.aborted) steps = await catalog.sweep();
      },
    },
    {
      onFailure: 'the definitions topic could not be checked',
      // Often enough to run before Kafka compacts the topic: compaction would remove a live
      // definition that an older record follows.
      everyMs: 60_000,
      run: () => registrar.repairDefinitions(),
    },
  ];
  return new Maintenance(tasks, logger);
}
