import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { watchLauncher } from '#servers';
import type { Role } from '../../config/roles.js';
import { loadSettings } from '../../config/settings.js';
import { createLogger } from '../../infra/logger.js';
import { Shutdown } from '../../infra/shutdown.js';
import { startApplication } from '../../main.js';
import { EXIT } from '../text/exit-codes.js';

/**
 * From this heap limit on, V8 lets garbage grow to about three times the live objects before it
 * collects it. We limit garbage to the size of the live objects: a process at full speed takes
 * 70 MB less, for about 1 µs of CPU per event (docs/performance.md#memory).
 */
const LARGE_HEAP = 2 ** 31;
const HEAP_GROWTH = '--heap-growing-percent=100';

export async function start({ roles }: { readonly roles: readonly Role[] }): Promise<number> {
  if (getHeapStatistics().heap_size_limit >= LARGE_HEAP) setFlagsFromString(HEAP_GROWTH);
  const { settings } = loadSettings();
  const logger = createLogger(settings);
  const force = () => process.exit(EXIT.no);
  const shutdown = new Shutdown({ timeoutMs: settings.shutdownTimeout, logger, force });
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => shutdown.onSignal(name));
  watchLauncher(() => {
    if (shutdown.signal.aborted) return; // after Ctrl-C, npm ends first
    logger.warn('npm, which started this process, has ended');
    shutdown.onSignal('SIGTERM');
  });

  const options = { settings, roles, logger, shutdown };
  const application = await startApplication(options).catch((error: unknown) => {
    if (!shutdown.signal.aborted) throw error;
    return undefined; // a signal ended the start: this is not a failure
  });
  if (application !== undefined) {
    logger.info(`running: ${roles.join(', ')}`);
    await shutdown.exitCode;
    await application.close();
  }
  shutdown.finished();
  logger.info('stopped');
  // A pending attempt to connect would keep the process alive
  return process.exit(await shutdown.exitCode);
}
