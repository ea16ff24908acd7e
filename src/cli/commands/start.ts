import type { INestApplicationContext } from '@nestjs/common';
import { Command, InvalidArgumentError } from 'commander';
import { startApplication, type StartOptions } from '../../main.js';
import { Ending } from '../../operations/ending.js';
import { createLogger, type Logger } from '../../operations/logger.js';
import { loadSettings, type Settings } from '../../operations/settings.js';
import { ROLES, type Role } from '../../roles.js';
import { EXIT } from '../exit-codes.js';
import { runCommand } from '../run-command.js';

/** `ranklog start`: runs roles until a signal ends them. */
export function startCommand(): Command {
  return new Command('start')
    .description('run ranklog until SIGTERM or SIGINT')
    .option('--roles <roles>', `what this process does: ${ROLES.join(', ')}`, parseRoles, [
      ...ROLES,
    ])
    .addHelpText(
      'after',
      '\nreconciliation makes the boards of the boards file (RANKLOG_BOARDS) live; ingest applies score events to them and' +
        '\npublishes the results. Start as many processes with the role ingest as the score topic has partitions.\n\nExample:\n  ranklog topics && ranklog start',
    )
    .action((options: { roles: readonly Role[] }) =>
      runCommand(async () => {
        const { settings } = loadSettings();
        const logger = createLogger(settings);
        return run(settings, options.roles, logger);
      }),
    );
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
  what: Pick<StartOptions, 'settings' | 'roles' | 'logger'>,
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

function parseRoles(text: string): Role[] {
  return text.split(',').map((name) => {
    const role = ROLES.find((known) => known === name.trim());
    if (role === undefined)
      throw new InvalidArgumentError(`"${name}" is no role; there are ${ROLES.join(', ')}`);
    return role;
  });
}
