import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { RankChangeSubscriber, type RankChange } from '#client';
import { CommandError, EXIT } from '../exit-codes.js';
import { runCommand } from '../run-command.js';
import { withKafka, type KafkaSession } from '../session.js';
import { describeMovements } from '../movement-line.js';
import { wholeNumber } from './standings.js';

interface Options {
  readonly fromBeginning?: boolean;
  readonly player?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

/** `ranklog watch`: committed rank changes as they come. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('show rank changes as they come')
    .argument('[board]', 'only this board')
    .option('--from-beginning', 'begin with the first rank change that Kafka has')
    .option('--player <id>', 'only this player')
    .option('--limit <n>', 'end after so many rank changes', wholeNumber)
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nExample:\n  ranklog watch football --player liverpool --from-beginning',
    )
    .action((board: string | undefined, options: Options) =>
      runCommand(() => withKafka((session) => watch(session, board, options))),
    );
}

async function watch(
  { settings, kafka, admin, topics }: KafkaSession,
  board: string | undefined,
  { fromBeginning = false, player, limit = Infinity, json = false }: Options,
): Promise<number> {
  if (!(await admin.listTopics()).includes(topics.rankChanges))
    throw new CommandError(
      `there is no topic ${topics.rankChanges}; create it with "ranklog topics"`,
      EXIT.usage,
    );
  const groupId = `${settings.group}-watch-${randomUUID()}`;
  const { topicPrefix } = settings;
  const subscriber = new RankChangeSubscriber({ kafka, groupId, topicPrefix, fromBeginning });
  const end = new Promise<void>((resolve, reject) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
    let seen = 0;
    const handle = (change: RankChange) => {
      if (
        seen >= limit ||
        (board ?? change.board) !== change.board ||
        (player ?? change.playerId) !== change.playerId
      )
        return;
      process.stdout.write(json ? `${JSON.stringify(change)}\n` : describeMovements(change));
      if (++seen >= limit) resolve();
    };
    subscriber.failed.catch(reject);
    subscriber.start(handle).then(() => {
      if (!json) process.stderr.write(`watching ${topics.rankChanges}; Ctrl-C ends\n`);
    }, reject);
  });
  try {
    await end;
    return EXIT.ok;
  } finally {
    await subscriber.stop();
    await admin.deleteGroups([groupId]).catch(() => undefined); // an empty group goes away by itself in a week
  }
}
