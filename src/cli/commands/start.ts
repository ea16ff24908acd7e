import type { INestApplicationContext } from '@nestjs/common';
import { startApplication, type StartOptions as Application } from '../../main.js';
import { Ending } from '../../operations/ending.js';
import { createLogger, type Logger } from '../../operations/logger.js';
import { loadSettings, type Settings } from '../../operations/settings.js';
import type { Role } from '../../roles.js';
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
  const ending = new Ending({ timeoutMs: settings.shutdownTimeout, logger, force });
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      ending.signalled(name, EXIT.ok);
    });
  const application = await startUnlessEnded(ending, { settings, roles, logger });
  if (application !== undefined) {
    logger.info(`running: ${roles.join(', ')}`);
    await ending.exitCode;
    await application.close();
  }
  ending.finished();
  logger.info('stopped');
  return process.exit(await ending.exitCode); // an attempt to connect that was given up would hold it
}

/** The application; undefined when the process was asked to end before it ran. */
async function startUnlessEnded(
  ending: Ending,
  what: Pick<Application, 'settings' | 'roles' | 'logger'>,
): Promise<INestApplicationContext | undefined> {
  const onFatal = () => {
    ending.ask(EXIT.no);
  };
  try {
    return await startApplication({ ...what, signal: ending.signal, onFatal });
  } catch (error) {
    if (ending.signal.aborted) return undefined; // then it is no failure
    throw error;
  }
}
