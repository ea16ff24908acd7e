// To add a check of the score topic: extend `scoreTopicProblems`. `checkScoreTopic` (`start`,
// `doctor`) and `createTopics` (`topics`) judge what it finds. Add its row to docs/operations.md,
// and a test of its refusal to test/cli/topics.test.ts.

import kafkajs, { type Admin } from 'kafkajs';
import type { TopicNames } from '#contracts';
import { RanklogError, toError } from '#errors';
import { whenKnown } from '#kafka-batch';
import type { Settings } from '../config/settings.js';

/** Settings of the score topic endanger boards. The message says how to change them. */
export class ScoreTopicError extends RanklogError {}

export { requireTopics, TopicsMissingError } from '#kafka-batch';

/** The topics that every process needs: only boards with closing windows need period results. */
export function requiredTopics(names: TopicNames): string[] {
  return Object.values(names).filter((topic) => topic !== names.periodResults);
}

/** Room for the headers that ranklog adds to a dead letter. */
const DEAD_LETTER_ROOM = 65_536;

/**
 * Room for the largest rank change of an event: 256 views with 100 overtaken players each take 10.7
 * MB. The rank change of a ban has all published views of the player. If it exceeds the limit, the
 * partition stops until an operator raises the limit.
 */
const MAX_RANK_CHANGE_BYTES = 12 * 1_024 * 1_024;

/**
 * Kafka's default. It holds the largest period result: 500 players with 8 columns each take 0.6 MB.
 */
const DEFAULT_MAX_MESSAGE_BYTES = 1_048_588;

/** Settings of a topic whose events are never deleted. */
const KEEP_ALL = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' };

/** The setting for how far a record's timestamp may lie ahead of the broker's clock. */
const MAX_AHEAD = 'message.timestamp.after.max.ms';
/** Its value for a new score topic: 1 h, the default of a board's maxAhead. */
const MAX_AHEAD_MS = 3_600_000;
/** Its largest value for an existing score topic: one day. */
const ACCEPTED_AHEAD_MS = 86_400_000;

/** The setting for who stamps records: the producer or the broker. */
const TIMESTAMP_TYPE = 'message.timestamp.type';
/** Its value for a new score topic: no producer's clock decides on events of closing windows. */
const BY_BROKER = 'LogAppendTime';

interface TopicOutcome {
  readonly topic: string;
  readonly partitions: number;
  readonly state: string;
}

/**
 * Creates missing topics, and adds missing partitions to result topics, which get as many as the
 * score topic has. Safe to repeat.
 * @throws ScoreTopicError
 */
export async function createTopics(
  admin: Admin,
  names: TopicNames,
  options: Pick<Settings, 'partitions' | 'replicationFactor' | 'allowShortHistory'>,
): Promise<TopicOutcome[]> {
  const known = new Set(await admin.listTopics());
  const { replicationFactor } = options;
  const ensure = (topic: string, numPartitions: number, configs: TopicConfigs) => {
    if (known.has(topic)) return addPartitions(admin, topic, numPartitions);
    return createTopic(admin, { topic, numPartitions, replicationFactor }, configs);
  };

  // An existing score topic gets no more partitions here: they would move players between
  // partitions. An operator can add some.
  const isNew = !known.has(names.scoreEvents);
  if (!isNew) await refuseScoreTopicProblems(admin, names.scoreEvents, options);
  const score = await ensure(names.scoreEvents, isNew ? options.partitions : 0, {
    ...KEEP_ALL,
    [TIMESTAMP_TYPE]: BY_BROKER,
    [MAX_AHEAD]: String(MAX_AHEAD_MS),
  });
  const scoreBytes = await maxMessageBytes(admin, names.scoreEvents);

  const rankChanges = await ensure(names.rankChanges, score.partitions, {
    'max.message.bytes': String(MAX_RANK_CHANGE_BYTES),
  });
  const leaderChanges = await ensure(names.leaderChanges, score.partitions, {});
  const periodResults = await ensure(names.periodResults, 1, {
    'retention.ms': '-1',
    'max.message.bytes': String(DEFAULT_MAX_MESSAGE_BYTES),
  });
  const deadLetters = await ensure(names.deadLetters, score.partitions, {
    'retention.ms': '-1',
    'max.message.bytes': String(scoreBytes + DEAD_LETTER_ROOM),
  });
  const definitions = await ensure(names.definitions, 1, { 'cleanup.policy': 'compact' });
  return [score, rankChanges, leaderChanges, periodResults, deadLetters, definitions];
}

type TopicConfigs = Readonly<Record<string, string>>;

async function createTopic(
  admin: Admin,
  given: { topic: string; numPartitions: number; replicationFactor: number },
  configs: TopicConfigs,
): Promise<TopicOutcome> {
  const { topic, numPartitions } = given;
  const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
  const topics = [{ ...given, configEntries }];
  try {
    await admin.createTopics({ topics, waitForLeaders: false });
  } catch (error) {
    throw creationError(topic, error);
  }
  await whenKnown(() => admin.fetchTopicMetadata({ topics: [topic] }));
  return { topic, partitions: numPartitions, state: 'created' };
}

/** Names the topic and the first reason, which kafkajs hides in a list of errors. */
function creationError(topic: string, error: unknown): Error {
  if (!(error instanceof kafkajs.KafkaJSAggregateError)) return toError(error);

  const [first] = error.errors.map(toError);
  return new Error(`can't create topic ${topic}: ${first?.message}`);
}

async function addPartitions(admin: Admin, topic: string, count: number): Promise<TopicOutcome> {
  const { topics } = await whenKnown(() => admin.fetchTopicMetadata({ topics: [topic] }));
  const partitions = topics[0]?.partitions.length ?? 0;
  if (partitions >= count) return { topic, partitions, state: 'ok' };

  await admin.createPartitions({ topicPartitions: [{ topic, count }] });
  return { topic, partitions: count, state: 'partitions added' };
}

/** The largest batch of records that a topic accepts, in bytes. */
export async function maxMessageBytes(admin: Admin, topic: string): Promise<number> {
  const config = await topicConfig(admin, topic);
  return Number(config.get('max.message.bytes') ?? DEFAULT_MAX_MESSAGE_BYTES);
}

/** Texts about the settings of an existing score topic that endanger boards. */
async function scoreTopicProblems(admin: Admin, topic: string) {
  const config = await topicConfig(admin, topic);
  return {
    shortHistory: shortHistoryText(topic, config),
    unboundedTimestamps: unboundedTimestampsText(topic, config),
  };
}

/**
 * @throws ScoreTopicError for unbounded timestamps, and for a loss of events that is not accepted
 */
async function refuseScoreTopicProblems(
  admin: Admin,
  topic: string,
  { allowShortHistory }: Pick<Settings, 'allowShortHistory'>,
): Promise<void> {
  const { shortHistory, unboundedTimestamps } = await scoreTopicProblems(admin, topic);
  if (shortHistory !== undefined && !allowShortHistory) throw new ScoreTopicError(shortHistory);
  if (unboundedTimestamps !== undefined) throw new ScoreTopicError(unboundedTimestamps);
}

/**
 * Refuses an existing score topic that loses events, unless the settings accept the loss. Returns
 * warnings about the other problems: unbounded timestamps, and an accepted loss.
 * @throws ScoreTopicError for a loss that is not accepted
 */
export async function checkScoreTopic(
  admin: Admin,
  topic: string,
  { allowShortHistory }: Pick<Settings, 'allowShortHistory'>,
): Promise<string[]> {
  const { shortHistory, unboundedTimestamps } = await scoreTopicProblems(admin, topic);
  if (shortHistory !== undefined && !allowShortHistory) throw new ScoreTopicError(shortHistory);
  return [shortHistory, unboundedTimestamps].filter((problem) => problem !== undefined);
}

function shortHistoryText(topic: string, config: ReadonlyMap<string, string>): string | undefined {
  const lossy: string[] = [];
  for (const [name, value] of Object.entries(KEEP_ALL)) {
    const found = config.get(name);
    if (found !== value) lossy.push(`${name}=${found ?? '?'}`);
  }
  if (lossy.length === 0) return undefined;

  return (
    `topic ${topic} loses events (${lossy.join(', ')}), so boards cannot be rebuilt from it. Keep all ` +
    `events: ${alter(topic)} retention.ms=-1,retention.bytes=-1,cleanup.policy=delete; or ` +
    'accept the loss with RANKLOG_ALLOW_SHORT_HISTORY=true (--allow-short-history of "ranklog ' +
    'topics")'
  );
}

function unboundedTimestampsText(
  topic: string,
  config: ReadonlyMap<string, string>,
): string | undefined {
  const isByBroker = config.get(TIMESTAMP_TYPE) === BY_BROKER;
  const maxAhead = config.get(MAX_AHEAD); // undefined before Kafka 3.6, which has no such setting
  const isBounded = maxAhead === undefined || Number(maxAhead) <= ACCEPTED_AHEAD_MS;
  if (isByBroker || isBounded) return undefined;

  return (
    `topic ${topic} accepts records with a timestamp far in the future ` +
    `(${MAX_AHEAD}=${maxAhead}). One such record can make all views with "keep" expire, ` +
    `permanently. Limit ${MAX_AHEAD} to a day or less: ${alter(topic)} ` +
    `${MAX_AHEAD}=${MAX_AHEAD_MS}`
  );
}

/** Whether the broker stamps the records of a topic with the time at which it appends them. */
async function stampsOnAppend(admin: Admin, topic: string): Promise<boolean> {
  const config = await topicConfig(admin, topic);
  return config.get(TIMESTAMP_TYPE) === BY_BROKER;
}

/** The transactional id of the one process that announces results. */
export function announcerId(group: string): string {
  return `${group}-periods`;
}

/** Problems of the topics that prevent announcements of these boards with closing windows. */
export async function closingProblems(
  admin: Admin,
  { scoreEvents, periodResults }: TopicNames,
  boards: readonly string[],
): Promise<string[]> {
  if (boards.length === 0) return [];

  const head = `closing windows of ${boards.join(', ')}`;
  const problems: string[] = [];
  const isByBroker = await stampsOnAppend(admin, scoreEvents);
  if (!isByBroker)
    problems.push(
      `${head}: windows close by the producers' timestamps and nothing is announced, because ` +
        `topic ${scoreEvents} lacks ${TIMESTAMP_TYPE}=${BY_BROKER}. ` +
        `Let the broker date new records: ${alter(scoreEvents)} ${TIMESTAMP_TYPE}=${BY_BROKER}; ` +
        'and set "from" of "close" to a time after that',
    );
  const topics = await admin.listTopics();
  if (!topics.includes(periodResults))
    problems.push(
      `${head}: nothing is announced, because Kafka shows no topic ${periodResults}; create it ` +
        'with "ranklog topics"',
    );
  return problems;
}

/** The beginning of a command that changes settings of a topic. */
function alter(topic: string): string {
  return `kafka-configs --alter --entity-type topics --entity-name ${topic} --add-config`;
}

async function topicConfig(admin: Admin, topic: string): Promise<Map<string, string>> {
  const { resources } = await whenKnown(() =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    }),
  );
  const entries = resources[0]?.configEntries ?? [];
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
