import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import type { TopicNames } from '#contracts';
import type { Logger } from './logger.js';

/** What became of a topic. */
export interface TopicReport {
  readonly topic: string;
  readonly partitions: number;
  readonly state: 'created' | 'ok' | 'partitions added';
}

/** The score topic has settings that endanger boards; the message says which, why, and how to change them. */
export class ScoreTopicError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'ScoreTopicError';
  }
}

/** Topics that ranklog needs are not there. */
export class TopicsMissingError extends Error {
  constructor(readonly topics: readonly string[]) {
    super(`there is no topic ${topics.join(', ')}; create what is missing with "ranklog topics"`);
    this.name = 'TopicsMissingError';
  }
}

/** @throws TopicsMissingError unless all topics are there */
export async function requireTopics(admin: Admin, names: TopicNames): Promise<void> {
  const known = new Set(await admin.listTopics());
  const missing = Object.values(names).filter((topic) => !known.has(topic));
  if (missing.length > 0) throw new TopicsMissingError(missing);
}

export interface TopicOptions {
  /** Of a new score topic; the result topics get as many as the score topic has. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly allowShortHistory: boolean;
}

/** Room for what ranklog adds to a dead letter's headers. */
const DEAD_LETTER_ROOM = 65_536;
/** Room for the largest rank change, which tells of 256 views and 100 passed players in each: 10.7 MB. */
const LARGEST_RANK_CHANGE = 12 * 1_024 * 1_024;
const DEFAULT_MAX_MESSAGE_BYTES = 1_048_588;

const KEEP_ALL = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' };
/** How far a record's timestamp may lie ahead of the broker's clock: 1 h, as maxAhead of a board by default. */
const MOST_AHEAD = 'message.timestamp.after.max.ms';
const MOST_AHEAD_MS = 3_600_000;
const ACCEPTED_AHEAD_MS = 86_400_000;

/** Creates the topics that are missing and checks the others. Safe to repeat. @throws ScoreTopicError */
export async function createTopics(
  admin: Admin,
  names: TopicNames,
  options: TopicOptions,
): Promise<TopicReport[]> {
  const known = new Set(await admin.listTopics());
  const { scoreEvents } = names;
  if (known.has(scoreEvents)) await checkScoreTopic(admin, scoreEvents, options);
  const score = await ensure(
    admin,
    known,
    {
      topic: scoreEvents,
      numPartitions: options.partitions,
      configs: { ...KEEP_ALL, [MOST_AHEAD]: String(MOST_AHEAD_MS) },
      keepsPartitions: true,
    },
    options,
  );
  const maxBytes = await maxMessageBytes(admin, scoreEvents);
  const results: TopicSpec[] = [
    {
      topic: names.rankChanges,
      numPartitions: score.partitions,
      configs: { 'max.message.bytes': String(LARGEST_RANK_CHANGE) },
    },
    { topic: names.leaderChanges, numPartitions: score.partitions, configs: {} },
    {
      topic: names.deadLetters,
      numPartitions: score.partitions,
      configs: { 'retention.ms': '-1', 'max.message.bytes': String(maxBytes + DEAD_LETTER_ROOM) },
    },
    { topic: names.definitions, numPartitions: 1, configs: { 'cleanup.policy': 'compact' } },
  ];
  const reports = [score];
  for (const spec of results) reports.push(await ensure(admin, known, spec, options));
  return reports;
}

interface TopicSpec {
  readonly topic: string;
  readonly numPartitions: number;
  readonly configs: Readonly<Record<string, string>>;
  /** The number of partitions is its owner's decision: more of them move players to other partitions. */
  readonly keepsPartitions?: boolean;
}

async function ensure(
  admin: Admin,
  known: ReadonlySet<string>,
  { topic, numPartitions, configs, keepsPartitions = false }: TopicSpec,
  { replicationFactor }: TopicOptions,
): Promise<TopicReport> {
  if (!known.has(topic)) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
    const spec: ITopicConfig = { topic, numPartitions, replicationFactor, configEntries };
    await admin.createTopics({ topics: [spec], waitForLeaders: false });
    await whenKnown(() => admin.fetchTopicMetadata({ topics: [topic] }));
    return { topic, partitions: numPartitions, state: 'created' };
  }
  const { topics } = await whenKnown(() => admin.fetchTopicMetadata({ topics: [topic] }));
  const partitions = topics[0]?.partitions.length ?? 0;
  if (partitions >= numPartitions || keepsPartitions) return { topic, partitions, state: 'ok' };
  await admin.createPartitions({ topicPartitions: [{ topic, count: numPartitions }] });
  return { topic, partitions: numPartitions, state: 'partitions added' };
}

/** The largest record that a topic takes, in bytes. */
export async function maxMessageBytes(admin: Admin, topic: string): Promise<number> {
  const config = await topicConfig(admin, topic);
  return Number(config.get('max.message.bytes') ?? DEFAULT_MAX_MESSAGE_BYTES);
}

/**
 * Checks a score topic that exists. With a log (at a start), accepted losses and unbounded timestamps are warnings;
 * without one, unbounded timestamps are refused. @throws ScoreTopicError
 */
export async function checkScoreTopic(
  admin: Admin,
  topic: string,
  { allowShortHistory }: Pick<TopicOptions, 'allowShortHistory'>,
  log?: Logger,
): Promise<void> {
  const { history, timestamps } = await dangersOf(admin, topic);
  const refused = (allowShortHistory ? undefined : history) ?? (log ? undefined : timestamps);
  if (refused !== undefined) throw new ScoreTopicError(refused);
  for (const danger of [history, timestamps]) if (danger !== undefined) log?.warn(danger);
}

/** The dangers in the settings of the score topic, each with the command that ends it. */
async function dangersOf(
  admin: Admin,
  topic: string,
): Promise<{ history?: string | undefined; timestamps?: string | undefined }> {
  const config = await topicConfig(admin, topic);
  const alter = `kafka-configs --alter --entity-type topics --entity-name ${topic} --add-config`;
  const lossy = Object.entries(KEEP_ALL)
    .filter(([name, value]) => config.get(name) !== value)
    .map(([name]) => `${name}=${config.get(name) ?? '?'}`);
  const mostAhead = config.get(MOST_AHEAD); // undefined before Kafka 3.6, which has no such setting
  const isBounded =
    config.get('message.timestamp.type') === 'LogAppendTime' ||
    Number(mostAhead ?? 0) <= ACCEPTED_AHEAD_MS;
  return {
    history:
      lossy.length === 0
        ? undefined
        : `topic ${topic} loses events (${lossy.join(', ')}), so boards cannot be rebuilt from it. ` +
          `Keep all events: ${alter} retention.ms=-1,retention.bytes=-1,cleanup.policy=delete; ` +
          'or accept the loss with RANKLOG_ALLOW_SHORT_HISTORY=true (--allow-short-history of "ranklog topics")',
    timestamps: isBounded
      ? undefined
      : `topic ${topic} accepts records dated far ahead (${MOST_AHEAD}=${mostAhead ?? '?'}); one of them can end all views with "keep" for good. ` +
        `Limit it to a day or less: ${alter} ${MOST_AHEAD}=${MOST_AHEAD_MS}`,
  };
}

async function topicConfig(admin: Admin, topic: string): Promise<Map<string, string>> {
  const { resources } = await whenKnown(() =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    }),
  );
  return new Map(
    resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
  );
}

const KNOWN_PAUSE_MS = 200;
const MOST_KNOWN_TRIES = 50;

/** A topic that was just created is not known to every broker at once; the request is repeated for some seconds. */
async function whenKnown<T>(request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      const unknown =
        error instanceof kafkajs.KafkaJSProtocolError &&
        error.type === 'UNKNOWN_TOPIC_OR_PARTITION';
      if (!unknown || attempt === MOST_KNOWN_TRIES) throw error;
      await delay(KNOWN_PAUSE_MS);
    }
  }
}
