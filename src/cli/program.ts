import { createRequire } from 'node:module';
import { Command } from 'commander';
import { boardsCommand } from './commands/boards.js';
import { configCommand } from './commands/config.js';
import { produceCommand } from './commands/produce.js';
import { rankCommand } from './commands/rank.js';
import { standingsCommand } from './commands/standings.js';
import { startCommand } from './commands/start.js';
import { statusCommand } from './commands/status.js';
import { topicsCommand } from './commands/topics.js';
import { viewsCommand } from './commands/views.js';
import { watchCommand } from './commands/watch.js';
import { EXIT } from './exit-codes.js';

const { version } = createRequire(import.meta.url)('#package') as { version: string };

const COMMANDS = [
  startCommand,
  topicsCommand,
  produceCommand,
  statusCommand,
  viewsCommand,
  standingsCommand,
  rankCommand,
  watchCommand,
  boardsCommand,
  configCommand,
];

/** The command line: every command, with what they share. */
export function createProgram(): Command {
  const program = new Command('ranklog')
    .description('Leaderboards that are a pure function of a Kafka log.')
    .version(version)
    .option(
      '--config <file>',
      'a YAML file of settings (RANKLOG_CONFIG); environment variables win over it',
    )
    .hook('preAction', (command) => {
      const { config } = command.opts<{ config?: string }>();
      if (config !== undefined) process.env['RANKLOG_CONFIG'] = config;
    })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage))
    .showHelpAfterError('(see --help)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 the answer is no, or some input was bad; 2 usage or settings; 3 Kafka or Redis not reachable, 4 a bug.' +
        '\nSettings: "ranklog config" shows them all.',
    );
  for (const command of COMMANDS) program.addCommand(command());
  shareSettings(program);
  return program;
}

/** Commands within commands, too, end and complain like the program. */
function shareSettings(parent: Command): void {
  for (const command of parent.commands) shareSettings(command.copyInheritedSettings(parent));
}
