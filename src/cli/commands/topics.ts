import { createTopics, ScoreTopicError, type TopicReport } from '../../infra/topics.js';
import { adopt } from './adopt.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';

export interface TopicsOptions {
  readonly partitions?: number;
  readonly allowShortHistory?: boolean;
  readonly adopt?: boolean;
  readonly json?: boolean;
}

/** `ranklog topics`: creates what is missing, checks what is there. */
export function topics(options: TopicsOptions): Promise<number> {
  return withKafka((session) => ensureTopics(session, options));
}

async function ensureTopics(
  { admin, settings, topics }: KafkaSession,
  options: TopicsOptions,
): Promise<number> {
  const { partitions = settings.partitions, allowShortHistory = settings.allowShortHistory } =
    options;
  const { replicationFactor } = settings;
  try {
    const reports = await createTopics(admin, topics, {
      partitions,
      replicationFactor,
      allowShortHistory,
    });
    if (options.adopt === true) await adopt();
    print(reports, options, toTable);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ScoreTopicError) throw new CommandError(error.message, EXIT.no);
    throw error;
  }
}

function toTable(reports: readonly TopicReport[]): string {
  return table(
    ['topic', 'partitions', 'state'],
    reports.map(({ topic, partitions, state }) => [topic, partitions, state]),
  );
}
