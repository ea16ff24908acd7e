import { Command } from 'commander';
import { ROLES } from '../../config/roles.js';
import type { ProduceOptions } from '../commands/produce.js';
import type { StartOptions } from '../commands/start.js';
import type { TopicsOptions } from '../commands/topics.js';
import { runCommand } from '../run-command.js';
import { rolesOf, wholeNumber } from './option-values.js';

/** `ranklog start`: runs roles until a signal ends them. */
export function startCommand(): Command {
  return new Command('start')
    .description('run ranklog until SIGTERM or SIGINT')
    .option('--roles <roles>', `what this process does: ${ROLES.join(', ')}`, rolesOf, [...ROLES])
    .addHelpText(
      'after',
      '\nreconciliation makes the boards of the boards file (RANKLOG_BOARDS) live; ingest applies score events to them and' +
        '\npublishes the results. Start as many processes with the role ingest as the score topic has partitions.\n\nExample:\n  ranklog topics && ranklog start',
    )
    .action((options: StartOptions) =>
      runCommand(async () => (await import('../commands/start.js')).start(options)),
    );
}

/** `ranklog topics`: creates what is missing, checks what is there. */
export function topicsCommand(): Command {
  return new Command('topics')
    .description(
      'create the topics with the settings that ranklog needs; check those that are there',
    )
    .option('--partitions <n>', 'partitions of a new score topic (RANKLOG_PARTITIONS)', wholeNumber)
    .option(
      '--allow-short-history',
      'take a score topic that deletes old events: boards can be rebuilt only from what is left',
    )
    .option(
      '--adopt',
      'move Redis and the topics to the settings of this process: processes with other settings end',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', '\nSafe to repeat.\n\nExample:\n  ranklog topics --partitions 12')
    .action((options: TopicsOptions) =>
      runCommand(async () => (await import('../commands/topics.js')).topics(options)),
    );
}

/** `ranklog produce FILE`: sends score events; exit code 1 when some lines were bad. */
export function produceCommand(): Command {
  return new Command('produce')
    .description('send score events: one JSON object a line, gzip too; - is standard input')
    .argument('<file>')
    .option('--rate <n>', 'at most so many events per second', wholeNumber)
    .option('--json', 'the summary as JSON')
    .addHelpText(
      'after',
      '\nBad lines are told with their number and not sent; the others are. Then the exit code is 1.\n\nExample:\n  ranklog produce events.ndjson.gz',
    )
    .action((file: string, options: ProduceOptions) =>
      runCommand(async () => (await import('../commands/produce.js')).produce(file, options)),
    );
}

/** `ranklog config`: what is in force, and where it came from. */
export function configCommand(): Command {
  return new Command('config')
    .description('show the settings in force and where each came from; secrets are hidden')
    .option('--json', 'as JSON')
    .action((options: { json?: boolean }) =>
      runCommand(async () => (await import('../commands/config.js')).config(options)),
    );
}
