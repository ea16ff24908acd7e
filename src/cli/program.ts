import { createRequire } from 'node:module';
import { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { boardsCommand } from './usage/boards.js';
import {
  rankCommand,
  standingsCommand,
  statusCommand,
  viewsCommand,
  watchCommand,
} from './usage/reading.js';
import { configCommand, produceCommand, startCommand, topicsCommand } from './usage/running.js';

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

/**
 * The command line: every command, with what they share. What a command does is loaded when it is run: this much is
 * loaded by each of them, so it needs no server's client and no framework.
 */
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
