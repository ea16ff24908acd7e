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

/**
 * The first event time and the last one have the same month, week and day, so each window has one
 * view.
 */
const WINDOWS = ['all', 'month', 'week', 'day'];

const RECORDS_PER_BATCH = 2_000;
/** What Kafka adds to a record, and to a batch. */
const BYTES_OF_A_RECORD = 8;
const BYTES_OF_A_BATCH = 61;

/** @param {Load} load */
export function boardNames({ boards }) {
  return Array.from({ length: boards }, (_, index) => `board-${index}`);
}

/** @param {Load} load */
export function boardsFileOf(load) {
  const fields = `columns: [{ name: score }], windows: [${WINDOWS.slice(0, load.views).join()}]`;
  return `boards:\n${boardNames(load)
    .map((name) => `  ${name}: { ${fields} }\n`)
    .join('')}`;
}

/**
 * Sends `load.events` events from number `from` on. Consumers of committed records see all of them
 * at the moment when the returned function is called. A batch goes to one partition, and has events
 * of all boards.
 * @param {Pick<import('../sandbox.mjs').Sandbox, 'kafka' | 'topics' | 'name'>} sandbox
 * @param {Load} load @param {number} from
 * @returns {Promise<() => Promise<void>>}
 */
export async function sendManyBoards({ kafka, topics, name }, load, from) {
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
  return async () => {
    await transaction.commit();
    await producer.disconnect();
  };
}

/** @param {number} number @param {Load} load @returns {import('kafkajs').Message} */
export function eventOf(number, load) {
  const { key, value } = score(number, load.players * load.boards);
  const board = `board-${playerNumber(key) % load.boards}`;
  const playerId = key.padEnd(load.idBytes, '-');
  return { key: playerId, value: String(value).replace('arena', board).replace(key, playerId) };
}

/** @param {string} playerId */
function playerNumber(playerId) {
  return Number(playerId.slice('player-'.length));
}

/** The players of all boards, and the sum of their scores, after the load. @param {Load} load */
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
            resolve((bytes + BYTES_OF_A_BATCH) / messages.length);
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
  const ofHeaders = Object.entries(headers).map(([name, text]) => {
    return name.length + String(text).length + 2;
  });
  const content = (key?.length ?? 0) + (value?.length ?? 0);
  return ofHeaders.reduce((sum, bytes) => sum + bytes, content + BYTES_OF_A_RECORD);
}
