import { Command } from 'commander';
import { createTopics, ShortHistoryError, type TopicReport } from '../../operations/topics.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';
import { withKafka } from '../session.js';
import { wholeNumber } from './standings.js';

interface Options {
  readonly partitions?: number;
  readonly allowShortHistory?: boolean;
  readonly json?: boolean;
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
    .option('--json', 'as JSON')
    .addHelpText('after', '\nSafe to repeat.\n\nExample:\n  ranklog topics --partitions 12')
    .action((options: Options) =>
      runCommand(() =>
        withKafka(async ({ admin, settings, topics }) => {
          const { partitions = settings.partitions, allowShortHistory = false } = options;
          const { replicationFactor } = settings;
          try {
            const reports = await createTopics(admin, topics, {
              partitions,
              replicationFactor,
              allowShortHistory,
            });
            print(reports, options, toTable);
            return EXIT.ok;
          } catch (error) {
            if (error instanceof ShortHistoryError) throw new CommandError(error.message, EXIT.no);
            throw error;
          }
        }),
      ),
    );
}

function toTable(reports: readonly TopicReport[]): string {
  return table(
    ['topic', 'partitions', 'state'],
    reports.map(({ topic, partitions, state }) => [topic, partitions, state]),
  );
}
