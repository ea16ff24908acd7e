// @ts-check
// The AsyncAPI document of the topics.
import { createRequire } from 'node:module';
import { topicNames } from '#contracts';
import { messages } from './messages.mjs';
import { payloadSchemas } from './payload-schemas.mjs';

const { version, license, description } = createRequire(import.meta.url)('#package');

const BY_INGEST =
  'The role `ingest`, in the partition of the score event and in one transaction with the ' +
  'committed offset: read with isolation level read_committed.';

/**
 * By the names of `topicNames()`: the records, and which part of ranklog sends and receives them.
 * @type {Record<keyof import('#contracts').TopicNames, { description: string, send: string,
 * receive: string, messages: string[] }>}
 */
const TOPICS = {
  scoreEvents: {
    description:
      'What players gained, and who is banned. Your services send, with any Kafka client or ' +
      'over HTTP.',
    send: 'The role `query`, for writes over HTTP; `ranklog produce` and `ranklog players`.',
    receive:
      'The role `ingest`, with the consumer group `RANKLOG_GROUP`. Builds read the log ' +
      'without a group.',
    messages: ['ScoreEvent', 'PlayerRecord'],
  },
  rankChanges: {
    description:
      'What each score event, ban or unban did to the place of its player. Your services receive.',
    send: BY_INGEST,
    receive: 'The role `query`, for streams and `?wait=rank`; `ranklog watch`.',
    messages: ['RankChange'],
  },
  leaderChanges: {
    description:
      'The new top N of a view, if the board publishes `leaders`. Your services receive.',
    send: BY_INGEST,
    receive: '`ranklog watch --leaders`.',
    messages: ['LeaderChange'],
  },
  periodResults: {
    description:
      'The first players of a view whose window has closed, if the board closes windows. Your ' +
      'services receive.',
    send: 'The role `reconciliation`, in a transaction: read with isolation level read_committed.',
    receive: '`ranklog periods watch`.',
    messages: ['PeriodResult'],
  },
  deadLetters: {
    description: 'Records of the score topic that can never be applied. Your services receive.',
    send: BY_INGEST,
    receive: 'The role `query`, for `?wait=rank`.',
    messages: ['DeadLetter'],
  },
  definitions: {
    description: 'The definitions of the live boards; compacted. Only ranklog sends.',
    send: 'The role `reconciliation` and `ranklog boards`, after a board goes live or is removed.',
    receive: 'All of ranklog: an emptied Redis gets the definitions back.',
    messages: ['Definition', 'Identity'],
  },
};

/** Describes the topics with the default prefix, from the perspective of ranklog. */
export function asyncApi() {
  const names = /** @type {(keyof typeof TOPICS)[]} */ (Object.keys(TOPICS));
  const schemas = payloadSchemas();
  return {
    asyncapi: '3.0.0',
    info: { title: 'ranklog', version, description, license: { name: license } },
    defaultContentType: 'application/json',
    servers: {
      kafka: { host: '127.0.0.1:9092', protocol: 'kafka', description: '`KAFKA_BROKERS`' },
    },
    channels: Object.fromEntries(names.map((name) => [name, channel(name)])),
    operations: Object.fromEntries(names.flatMap(operations)),
    components: {
      messages: messages(),
      schemas: {
        ...schemas,
        ScoreEvent: scoreEvent(schemas['ScoreEvent']),
        PlayerRecord: withNulls(schemas['PlayerRecord']),
      },
    },
  };
}

/** @param {keyof typeof TOPICS} name */
function channel(name) {
  const { description, messages } = TOPICS[name];
  const references = messages.map((one) => [one, { $ref: `#/components/messages/${one}` }]);
  return {
    address: topicNames()[name],
    description: `${description} \`RANKLOG_TOPIC_PREFIX\` replaces \`ranklog\` in the name.`,
    messages: Object.fromEntries(references),
  };
}

/**
 * What ranklog sends to and receives from a topic, by the ids of the operations. @param {keyof
 * typeof TOPICS} name
 */
function operations(name) {
  return /** @type {const} */ (['send', 'receive']).map((action) => [
    `${action}${name[0]?.toUpperCase()}${name.slice(1)}`,
    { action, channel: { $ref: `#/channels/${name}` }, description: TOPICS[name][action] },
  ]);
}

/**
 * Adds what the decoder checks beside the class: an event has either `delta` or `deltas`.
 * @param {import('./payload-schemas.mjs').Schema} [schema]
 */
function scoreEvent(schema) {
  const given = (/** @type {string} */ name) => ({
    required: [name],
    properties: { [name]: { not: { type: 'null' } } },
  });
  return { ...withNulls(schema), oneOf: [given('delta'), given('deltas')] };
}

/**
 * Adds that null means absent.
 * @param {import('./payload-schemas.mjs').Schema} [schema]
 */
function withNulls({ properties = {}, required = [], ...schema } = {}) {
  const fields = Object.entries(properties).map(([name, field]) => {
    if (required.includes(name)) return [name, field];
    const { description, allOf = [field] } = field;
    return [name, { description, anyOf: [...allOf, { type: 'null' }] }];
  });
  return { ...schema, required, properties: Object.fromEntries(fields) };
}
