import { createRequire } from 'node:module';
import { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { addBoards } from './usage/boards.js';
import { addRank, addStandings, addStatus, addViews, addWatch } from './usage/reading.js';
import { addConfig, addProduce, addStart, addTopics } from './usage/running.js';

const { version } = createRequire(import.meta.url)('#package') as { version: string };

const COMMANDS = [
  ...[addStart, addTopics, addProduce, addStatus, addViews],
  ...[addStandings, addRank, addWatch, addBoards, addConfig],
];

/** The command line. Every command loads this, so it must not load a client of a server or a framework. */
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
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 the answer is no, or some input was bad; 2 usage or settings; 3 try again later; 4 a bug.' +
        '\nSettings: "ranklog config" lists them.',
    );
  for (const add of COMMANDS) add(program);
  return program;
}
