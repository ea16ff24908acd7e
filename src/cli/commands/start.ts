import type { INestApplicationContext } from '@nestjs/common';
import { startApplication, type StartOptions as Application } from '../../main.js';
import { Shutdown } from '../../infra/shutdown.js';
import { createLogger, type Logger } from '../../infra/logger.js';
import { loadSettings, type Settings } from '../../config/settings.js';
import type { Role } from '../../config/roles.js';
import { EXIT } from '../exit-codes.js';

export interface StartOptions {
  readonly roles: readonly Role[];
}

/** `ranklog start`: runs roles until a signal ends them. */
export function start({ roles }: StartOptions): Promise<number> {
  const { settings } = loadSettings();
  return run(settings, roles, createLogger(settings));
}

async function run(settings: Settings, roles: readonly Role[], logger: Logger): Promise<number> {
  const force = () => process.exit(EXIT.no);
  const shutdown = new Shutdown({ timeoutMs: settings.shutdownTimeout, logger, force });
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      shutdown.signalled(name, EXIT.ok);
    });
  const application = await startUnlessEnded(shutdown, { settings, roles, logger });
  if (application !== undefined) {
    logger.info(`running: ${roles.join(', ')}`);
    await shutdown.exitCode;
    await application.close();
  }
  shutdown.finished();
  logger.info('stopped');
  return process.exit(await shutdown.exitCode); // an attempt to connect that was given up would hold it
}

/** The application; undefined when the process was asked to end before it ran. */
async function startUnlessEnded(
  shutdown: Shutdown,
  what: Pick<Application, 'settings' | 'roles' | 'logger'>,
): Promise<INestApplicationContext | undefined> {
  const onFatal = () => {
    shutdown.ask(EXIT.no);
  };
  try {
    return await startApplication({ ...what, signal: shutdown.signal, onFatal });
  } catch (error) {
    if (shutdown.signal.aborted) return undefined; // then it is no failure
    throw error;
  }
}
