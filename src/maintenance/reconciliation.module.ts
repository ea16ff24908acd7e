import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import type { GenerationCatalog } from '#board-store';
import { Maintenance } from './maintenance.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Parts } from '../parts.js';
import { BackgroundBuilder } from './background-builder.js';
import { BoardRegistrar } from '../registry/board-registrar.js';
import { Reconciler } from './reconciler.js';
import { VerifySchedule } from '../verify/schedule.js';
import { ScheduledVerify } from '../verify/scheduled-verify.js';

/** The role `reconciliation`: registers the boards before anything is read from the log, then keeps them up and verifies them. */
@Module({})
export class ReconciliationModule
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  /** @throws SettingsError */
  static of(parts: Parts, metrics: Metrics): DynamicModule {
    const { settings, topics } = parts;
    const reconciler = new Reconciler({
      ...parts,
      topic: topics.scoreEvents,
      graceMs: settings.rollbackGrace,
      eventsPerSecond: settings.backgroundRate || undefined,
    });
    return {
      module: ReconciliationModule,
      providers: [
        { provide: BoardRegistrar, useValue: parts.registrar },
        { provide: Maintenance, useValue: maintenance(parts, reconciler) },
        { provide: VerifySchedule, useValue: verifySchedule(parts, reconciler, metrics) },
      ],
    };
  }

  constructor(
    private readonly registrar: BoardRegistrar,
    private readonly maintenance: Maintenance,
    private readonly schedule: VerifySchedule,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.registrar.register();
  }

  onApplicationBootstrap(): void {
    this.maintenance.start();
    this.schedule.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.maintenance.stop(), this.schedule.stop()]);
  }
}

function maintenance(parts: Parts, reconciler: Reconciler): Maintenance {
  const { registrar, store, catalog, logger } = parts;
  const builder = new BackgroundBuilder({ store, reconciler, registrar, log: logger });
  const tasks = [
    {
      onFailure: "the boards can't be kept registered",
      everyMs: 1_000, // ingest in other processes waits for boards that Redis has lost
      run: () => registrar.keepRegistered(),
    },
    {
      onFailure: "boards can't be built now",
      everyMs: 1_000,
      run: (signal: AbortSignal) => builder.build(signal),
    },
    {
      onFailure: 'discarded generations could not be deleted',
      everyMs: 2_000,
      run: (signal: AbortSignal) => sweepGenerations(catalog, signal),
    },
    {
      onFailure: 'the definitions topic could not be checked',
      everyMs: 60_000, // compaction takes longer to reach the end of the log
      run: () => repairDefinitions(parts),
    },
  ];
  return new Maintenance(tasks, logger);
}

/** Frees the memory of discarded generations, in short steps. */
async function sweepGenerations(catalog: GenerationCatalog, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await catalog.sweep()) > 0);
}

/** Compaction keeps only the last record of each board, so that has to be the live definition. */
async function repairDefinitions({ definitions, logger }: Parts): Promise<void> {
  for (const board of await definitions.repair())
    logger.info(
      `board "${board}": its definition is written to Kafka again, as an older one came after it`,
    );
}

function verifySchedule(parts: Parts, reconciler: Reconciler, { gauges }: Metrics): VerifySchedule {
  const { settings, logger: log } = parts;
  const {
    verifySchedule: expression,
    verifyTimeZone: timeZone,
    verifyRebuild: rebuilds,
  } = settings;
  const verify = new ScheduledVerify({ ...parts, reconciler, gauges, log, rebuilds });
  return new VerifySchedule({ expression, timeZone, verify, log });
}
