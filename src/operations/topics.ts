import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import type { TopicNames } from '#contracts';

/** What became of a topic. */
export interface TopicReport {
  readonly topic: string;
  readonly partitions: number;
  readonly state: 'created' | 'ok' | 'partitions added';
}

/** The score topic would lose events. `settings` are those that do it. */
export class ShortHistoryError extends Error {
  constructor(
    readonly topic: string,
    readonly settings: readonly string[],
  ) {
    super(
      `topic ${topic} loses events (${settings.join(', ')}), so boards could not be rebuilt from it. ` +
        `Keep them all: kafka-configs --alter --entity-type topics --entity-name ${topic} --add-config ` +
        `retention.ms=-1,retention.bytes=-1,cleanup.policy=delete; or accept it with --allow-short-history`,
    );
    this.name = 'ShortHistoryError';
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

/** Creates the topics that are missing and checks the others. Safe to repeat. @throws ShortHistoryError */
export async function createTopics(
  admin: Admin,
  names: TopicNames,
  options: TopicOptions,
): Promise<TopicReport[]> {
  const known = new Set(await admin.listTopics());
  const { scoreEvents } = names;
  if (known.has(scoreEvents) && !options.allowShortHistory) await checkHistory(admin, scoreEvents);
  const score = await ensure(
    admin,
    known,
    {
      topic: scoreEvents,
      numPartitions: options.partitions,
      configs: KEEP_ALL,
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

/** @throws ShortHistoryError */
async function checkHistory(admin: Admin, topic: string): Promise<void> {
  const config = await topicConfig(admin, topic);
  const lossy = Object.entries(KEEP_ALL)
    .filter(([name, value]) => config.get(name) !== value)
    .map(([name]) => `${name}=${config.get(name) ?? '?'}`);
  if (lossy.length > 0) throw new ShortHistoryError(topic, lossy);
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
