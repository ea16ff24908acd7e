// To add a command: name, options and help go into one of the *-commands.ts beside this file, its
// work into commands (related commands share a file). text/output.ts prints text and JSON; a long
// answer has a file of its own in text. Add its row to docs/reference/commands.md, which a spec
// compares.

import { createRequire } from 'node:module';
import { Command } from 'commander';
import { boards } from './boards-commands.js';
import { deadLetters } from './dead-letter-commands.js';
import { periods } from './period-commands.js';
import { players } from './players-commands.js';
import { READING } from './reading-commands.js';
import { config, RUNNING } from './running-commands.js';
import { scores } from './scores-commands.js';
import { EXIT } from './text/exit-codes.js';

const { version } = createRequire(import.meta.url)('#package') as { version: string };

/**
 * The command line. Every command loads this module, so it loads neither a framework nor a client
 * of Kafka or Redis.
 */
export function createProgram(): Command {
  const program = new Command('ranklog')
    .description('Leaderboards that are a pure function of a Kafka log.')
    .version(version)
    .option('--config <file>', 'a YAML file of settings (RANKLOG_CONFIG); the environment wins')
    .hook('preAction', (command) => {
      const { config } = command.opts<{ config?: string }>();
      if (config !== undefined) process.env['RANKLOG_CONFIG'] = config;
    })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage))
    .showHelpAfterError('(see --help)')
    .configureOutput({ outputError: (text, write) => write(withDashHint(text)) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 the answer is no, or some input was bad; 2 usage or settings; 3 ' +
        'try again later; 4 a bug; 5 the answer is stale.' +
        '\nSettings: "ranklog config" lists them.',
    );
  for (const command of [
    ...RUNNING,
    ...READING,
    periods,
    deadLetters,
    boards,
    scores,
    players,
    config,
  ]) {
    program.addCommand(command.copyInheritedSettings(program)); // later settings would not reach it
    for (const inner of command.commands) inner.copyInheritedSettings(command);
  }
  return program;
}

/**
 * Adds a hint to the error for an unknown option: commander reads an argument that begins with a
 * dash as an option, even if it is the id of a player.
 */
function withDashHint(error: string): string {
  return error.replace(
    /^error: unknown option '(.*)'/,
    `$&; if it is an id and not an option, write "--" before it: -- $1`,
  );
}
