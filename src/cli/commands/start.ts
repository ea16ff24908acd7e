import { Command, InvalidArgumentError } from 'commander';
import { startApplication } from '../../main.js';
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

/** One Ctrl-C may arrive twice: from the terminal, and from a wrapper that passes it on. */
const SAME_REQUEST_MS = 1_000;

async function run(settings: Settings, roles: readonly Role[], logger: Logger): Promise<number> {
  const end = new End();
  const application = await startApplication({
    settings,
    roles,
    logger,
    onFatal: () => end.reach(EXIT.no),
  });
  let asked = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (end.reached && performance.now() - asked < SAME_REQUEST_MS) return;
      if (end.reached) process.exit(EXIT.no); // asked twice
      asked = performance.now();
      logger.info(`${signal}: finishing what is in flight`);
      end.reach(EXIT.ok);
    });
  logger.info(`running: ${roles.join(', ')}`);
  const exitCode = await end.exitCode;
  const force = setTimeout(() => {
    logger.error(
      `not finished after ${settings.shutdownTimeout} ms; what is not published now is at the next start`,
    );
    process.exit(EXIT.no);
  }, settings.shutdownTimeout);
  await application.close();
  force.unref(); // ends the process all the same, should something still hold it
  logger.info('stopped');
  return exitCode;
}

/** The moment at which the process has to end, and its exit code. */
class End {
  reached = false;
  #resolve: (exitCode: number) => void = () => undefined;
  readonly exitCode = new Promise<number>((resolve) => {
    this.#resolve = resolve;
  });

  reach(exitCode: number): void {
    this.reached = true;
    this.#resolve(exitCode);
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
