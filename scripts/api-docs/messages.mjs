// @ts-check
// What the AsyncAPI document says about the records of each kind: key, headers, value, examples.
import { readFileSync } from 'node:fs';
import {
  cloudEventHeaders,
  DEAD_LETTER_CODES,
  DEFINITION_RECORD_TYPE,
  IDENTITY_KEY,
  LEADERS_CHANGED_TYPE,
  PERIOD_CLOSED_TYPE,
  PLAYER_RECORD_TYPES,
  RANK_CHANGED_TYPE,
  SCORE_EVENT_TYPE,
} from '#contracts';

const GOLDEN = new URL('../../test/contracts/golden/', import.meta.url);

/** @param {string} description */
const text = (description) => ({ type: 'string', description });
const COUNT = { type: 'string', pattern: '^\\d+$' };
const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** @param {Record<string, object>} properties @param {readonly string[]} [required] */
const headers = (properties, required) => ({
  type: 'object',
  properties,
  ...(required && { required }),
});

/**
 * The CloudEvents headers of a type of records. A header without a description has the same value
 * in each record.
 * @param {string} type @param {Record<string, string>} descriptions
 */
function cloudEvent(type, descriptions) {
  /** @type {Record<string, object>} */
  const properties = {};
  for (const [name, value] of Object.entries(cloudEventHeaders({ id: '', type, source: '' }))) {
    const description = descriptions[name];
    properties[name] =
      description === undefined ? { type: 'string', const: value } : text(description);
  }
  return headers(properties);
}

/**
 * The same for a type that only ranklog sends, with all headers.
 * @param {string} type @param {string} ce_id @param {string} ce_source
 */
function sentCloudEvent(type, ce_id, ce_source) {
  const { properties } = cloudEvent(type, { ce_id, ce_source });
  return headers(properties, Object.keys(properties));
}

/**
 * The headers of a player record: which of the three types it is makes it a ban, an unban or an
 * erasure.
 */
function playerRecordHeaders() {
  const ignored = { ce_id: 'Ignored.', ce_source: 'Ignored.', 'content-type': CONTENT_TYPE };
  const { properties } = cloudEvent('', ignored);
  const ce_type = { type: 'string', enum: Object.values(PLAYER_RECORD_TYPES) };
  const ranklog_time = {
    type: 'string',
    pattern: '^-?\\d{1,15}$',
    description:
      'The time in ms by which the record counts; without it, the timestamp of the record.',
  };
  return headers({ ...properties, ce_type, ranklog_time }, ['ce_type']);
}

const CONTENT_TYPE = '`application/json`, or any `+json`; not `application/cloudevents+json`.';
const CODES = Object.entries(DEAD_LETTER_CODES).map(([code, description]) => ({
  const: code,
  description,
}));
const PLACE = 'topic/partition/offset of the score event or player record';
const SCORE_TOPIC = '`/ranklog/` and the score topic.';

/** The messages by name. An example is a file of test/contracts/golden. */
const MESSAGES = {
  ScoreEvent: {
    name: SCORE_EVENT_TYPE,
    summary:
      'What one player gained on one board. No header is required; other headers are ignored.',
    key: text('The player id, so that the events of a player stay in order.'),
    headers: cloudEvent(SCORE_EVENT_TYPE, {
      ce_id: 'Replaces a missing `eventId`.',
      ce_source: 'Ignored.',
      'content-type': CONTENT_TYPE,
    }),
    examples: ['score-event', 'score-event-lists'],
  },
  PlayerRecord: {
    name: 'ranklog.player-record',
    summary: 'Bans a player from one board, takes that back, or erases the player, by `ce_type`.',
    key: text('The player id.'),
    headers: playerRecordHeaders(),
    examples: ['player-banned', 'player-unbanned', 'player-erased'],
  },
  RankChange: {
    name: RANK_CHANGED_TYPE,
    summary: 'The effect of one score event or player record on its player.',
    key: text('The player id.'),
    headers: sentCloudEvent(RANK_CHANGED_TYPE, `${PLACE}.`, SCORE_TOPIC),
    examples: ['rank-change', 'rank-change-overtook', 'rank-change-left'],
  },
  LeaderChange: {
    name: LEADERS_CHANGED_TYPE,
    summary: 'The new top N of a view, and who entered, left or moved.',
    key: text('The board, a space and the view.'),
    headers: sentCloudEvent(LEADERS_CHANGED_TYPE, `${PLACE}, a space and the view.`, SCORE_TOPIC),
    examples: ['leader-change-first', 'leader-change'],
  },
  PeriodResult: {
    name: PERIOD_CLOSED_TYPE,
    summary:
      'The result of a view whose window has closed: its first players, and how many it has.',
    key: text('The board, a space and the view.'),
    headers: sentCloudEvent(
      PERIOD_CLOSED_TYPE,
      'The board, a slash, the view, a slash and the revision: the same each time that it is made.',
      SCORE_TOPIC,
    ),
    examples: ['period-result', 'period-result-again'],
  },
  DeadLetter: {
    name: 'ranklog.dead-letter',
    summary: 'A record of the score topic as it was, and the reason in headers.',
    contentType: 'application/octet-stream',
    key: { type: ['string', 'null'], description: 'The key of the record, byte for byte.' },
    payload: {
      type: ['string', 'null'],
      description:
        'The value of the record, byte for byte. null also if it is too large for the topic.',
    },
    headers: headers(
      {
        ranklog_reason: {
          description: 'What is wrong. A later version may add codes.',
          anyOf: [...CODES, { type: 'string' }],
        },
        ranklog_detail: text('The field, the bad value and what is allowed.'),
        ranklog_topic: text('The topic of the record.'),
        ranklog_partition: COUNT,
        ranklog_offset: COUNT,
        ranklog_timestamp: { type: 'string', description: 'Timestamp of the record, in ms.' },
        ranklog_id: text('topic/partition/offset of the record.'),
        ranklog_value_bytes: { ...COUNT, description: 'Size of a value that was left out.' },
        ranklog_value_sha256: SHA256,
        ranklog_key_bytes: { ...COUNT, description: 'Size of a key that was left out.' },
        ranklog_key_sha256: SHA256,
        ranklog_headers_bytes: { ...COUNT, description: 'Size of headers that were left out.' },
      },
      ['reason', 'detail', 'topic', 'partition', 'offset', 'id'].map((name) => `ranklog_${name}`),
    ),
    examples: ['dead-letter', 'dead-letter-unknown-type', 'dead-letter-digest'],
  },
  Definition: {
    name: DEFINITION_RECORD_TYPE,
    summary: 'The definition of a live board, or that the board was removed.',
    key: text('The board.'),
    headers: sentCloudEvent(
      DEFINITION_RECORD_TYPE,
      'The board, a slash and `since`.',
      '`/ranklog/` and this topic.',
    ),
    payload: { $ref: '#/components/schemas/StoredDefinitionRecord' },
    examples: ['definition-record', 'definition-record-removed'],
  },
  Identity: {
    name: 'ranklog.identity',
    summary:
      'Settings that belong together: Kafka cluster, topics, group, Redis prefix, shards. For ' +
      'ranklog only.',
    key: { type: 'string', const: IDENTITY_KEY },
    headers: headers({}),
    payload: { type: 'object' },
    examples: [],
  },
};

/** The messages of the document, by name. */
export function messages() {
  /** @type {Record<string, object>} */
  const described = {};
  for (const [name, { key, examples, ...message }] of Object.entries(MESSAGES))
    described[name] = {
      payload: { $ref: `#/components/schemas/${name}` },
      ...message,
      bindings: { kafka: { key, bindingVersion: '0.5.0' } },
      ...(examples.length > 0 && { examples: examples.map(example) }),
    };
  return described;
}

/**
 * The example in a golden file. The value of a dead letter need not be JSON: it is a text, or null
 * if it was left out.
 * @param {string} name
 */
function example(name) {
  /** @type {{ headers: object, value: string, record?: { value: string } }} */
  const { headers, value, record } = JSON.parse(
    readFileSync(new URL(`${name}.json`, GOLDEN), 'utf8'),
  );
  const text = 'ranklog_value_bytes' in headers ? null : record?.value;
  return { name, headers, payload: text === undefined ? JSON.parse(value) : text };
}
