// @ts-check
// The load of bench:scale: score events of random players on many boards, in record batches of
// 2,000.
import { Partitioners } from 'kafkajs';
import { score, totals } from '../log.mjs';

/**
 * @typedef {object} Load
 * @property {number} events
 * @property {number} boards
 * @property {number} players of each board
 * @property {number} views of each board, up to 4
 * @property {number} partitions
 * @property {number} idBytes the least length of the id of a player
 */

/** All event times are in one month, one week and one day, so each window has one view. */
const WINDOWS = ['all', 'month', 'week', 'day'];

const RECORDS_PER_BATCH = 2_000;
/** Bytes that Kafka adds to each record, to each header of one, and to each batch. */
const RECORD_OVERHEAD = 8;
const HEADER_OVERHEAD = 2;
const BATCH_OVERHEAD = 61;

/** @param {Load} load */
export function boardNames({ boards }) {
  return Array.from({ length: boards }, (_, index) => `board-${index}`);
}

/** @param {Load} load */
export function boardsFileOf(load) {
  const windows = WINDOWS.slice(0, load.views).join();
  const fields = `columns: [{ name: score }], windows: [${windows}]`;
  const lines = boardNames(load).map((name) => `  ${name}: { ${fields} }\n`);
  return `boards:\n${lines.join('')}`;
}

/**
 * Events that are sent and not committed yet: consumers of committed records see none of them.
 * @typedef {{ producer: import('kafkajs').Producer, transaction: import('kafkajs').Transaction }}
 * HeldEvents
 */

/**
 * Sends `load.events` events to all boards, and leaves the transaction open for `commitEvents`.
 * @param {Pick<import('../sandbox.mjs').Sandbox, 'kafka' | 'topics' | 'name'>} sandbox
 * @param {Load} load @param {number} from number of the first event
 * @returns {Promise<HeldEvents>}
 */
export async function sendHeldEvents({ kafka, topics, name }, load, from) {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    transactionalId: `${name}-load`,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  const perRequest = RECORDS_PER_BATCH * load.partitions;
  const end = from + load.events;
  for (let at = from; at < end; at += perRequest) {
    const size = Math.min(perRequest, end - at);
    const messages = Array.from({ length: size }, (_, index) => eventOf(at + index, load));
    await transaction.send({ topic: topics.scoreEvents, messages });
  }
  return { producer, transaction };
}

/** Shows all events to consumers at one moment. @param {HeldEvents} events */
export async function commitEvents({ producer, transaction }) {
  await transaction.commit();
  await producer.disconnect();
}

/**
 * The event of this number in the log of bench:compare, for one of the boards in place of `arena`.
 * @param {number} number @param {Load} load @returns {import('kafkajs').Message}
 */
export function eventOf(number, load) {
  const { key, value } = score(number, load.players * load.boards);
  const board = `board-${playerNumber(key) % load.boards}`;
  const playerId = key.padEnd(load.idBytes, '-');
  const text = String(value).replace('arena', board).replace(key, playerId);
  return { key: playerId, value: text };
}

/** @param {string} playerId */
function playerNumber(playerId) {
  return Number(playerId.slice('player-'.length));
}

/**
 * How many players all boards have after the load, and the sum of their scores.
 * @param {Load} load
 */
export function totalsOf({ events, boards, players }) {
  return totals({ events, players: players * boards });
}

/**
 * The mean size of a record, from the first batch of a topic.
 * @param {Pick<import('../sandbox.mjs').Sandbox, 'kafka' | 'name'>} sandbox
 * @param {string} topic @returns {Promise<number>}
 */
export async function bytesPerRecord({ kafka, name }, topic) {
  const consumer = kafka.consumer({ groupId: `${name}-bytes` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  try {
    return await new Promise((resolve, reject) => {
      consumer
        .run({
          autoCommit: false,
          eachBatch: ({ batch: { messages } }) => {
            const bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
            resolve((bytes + BATCH_OVERHEAD) / messages.length);
            return Promise.resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
}

/** @param {import('kafkajs').KafkaMessage} message */
function bytesOf({ key, value, headers = {} }) {
  let bytes = RECORD_OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, text] of Object.entries(headers))
    bytes += HEADER_OVERHEAD + name.length + String(text).length;
  return bytes;
}
