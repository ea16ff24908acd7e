import type { DynamicModule } from '@nestjs/common';
import { GenerationCatalog, GenerationStore, LeaseStore } from '#board-store';
import type { Metrics } from '../operations/metrics.js';
import type { Parts } from '../parts.js';
import { BackgroundBuilder } from './background-builder.js';
import { DefinitionsMender } from './definitions-mender.js';
import { GenerationSweeper } from './generation-sweeper.js';
import { reconcilerFrom } from './reconciler-from.js';
import { ReconciliationModule } from './reconciliation.module.js';
import { RegistrationWatch } from './registration-watch.js';
import { VerifySchedule } from './schedule.js';
import { ScheduledVerify } from './schedule-verify.js';

/** The role `reconciliation`, put together. @throws SettingsError */
export function reconciliationRole(parts: Parts, metrics: Metrics): DynamicModule {
  const { settings, registrar, definitions, logger, redis, keys, store } = parts;
  const reconciler = reconcilerFrom(parts, settings.backgroundRate || undefined);
  return ReconciliationModule.with(registrar, [
    new RegistrationWatch(registrar, logger),
    new DefinitionsMender(definitions, logger),
    new BackgroundBuilder({ store, reconciler, registrar, log: logger }),
    new GenerationSweeper(new GenerationCatalog(redis, keys, settings), logger),
    verifySchedule(parts, reconciler, metrics),
  ]);
}

function verifySchedule(
  { settings, redis, keys, store, logger }: Parts,
  reconciler: ReturnType<typeof reconcilerFrom>,
  { gauges }: Metrics,
): VerifySchedule {
  const { verifySchedule: expression, verifyTimeZone: timeZone } = settings;
  const verify = new ScheduledVerify({
    store,
    leases: new LeaseStore(redis, keys, settings),
    generations: new GenerationStore(redis, keys, settings),
    reconciler,
    gauges,
    log: logger,
    rebuilds: settings.verifyRebuild,
  });
  return new VerifySchedule({ expression, timeZone, verify, log: logger });
}
