import kafkajs from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import { BUSY_RETRY } from './busy-retry.js';

const {
  KafkaJSConnectionError,
  KafkaJSGroupCoordinatorNotFound,
  KafkaJSProtocolError,
  KafkaJSRequestTimeoutError,
} = kafkajs;

/** Kafka's error code of a topic that a broker does not know, or not yet. */
const UNKNOWN_TOPIC_OR_PARTITION = 3;

/** Bytes of the length in front of each answer. */
const LENGTH_BYTES = 4;

/** Repairs what kafkajs 2.2.4 does with connections that break; called once, by patchKafkajs. */
export function patchConnections(): void {
  forgetTornAnswers();
  leaveSilentConnections();
  askBusyCoordinatorsAgain();
  lookForCoordinatorsAgain();
  missOffsetsAloud();
}

/**
 * A connection that is lost in the middle of an answer keeps the half, and takes what the next one brings for the rest
 * of it: no request of it is ever answered again.
 */
function forgetTornAnswers(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the connection below
  const { connect } = Connection.prototype;
  Connection.prototype.connect = function () {
    if (!this.isConnected()) {
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = LENGTH_BYTES;
    }
    return connect.call(this);
  };
}

/**
 * A request without an answer fails in time, but the next ones go to the same connection, and none of them is answered
 * when the network has forgotten it. Destroyed, so that an answer that comes late is not taken for the next one's.
 */
function leaveSilentConnections(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the connection below
  const { send } = Connection.prototype;
  Connection.prototype.send = async function (request) {
    const { socket } = this;
    try {
      return await send.call(this, request);
    } catch (error) {
      if (error instanceof KafkaJSRequestTimeoutError && socket === this.socket) await leave(this);
      throw error;
    }
  };
}

async function leave(connection: Connection): Promise<void> {
  const { broker } = connection;
  connection.socket?.destroy();
  connection.rejectRequests(new KafkaJSConnectionError('No answer from the broker', { broker }));
  await connection.disconnect();
}

/** Where a transaction begins or gets its position, kafkajs looks for these settings in a place where nobody puts them. */
function askBusyCoordinatorsAgain(): void {
  Cluster.prototype.retry = BUSY_RETRY;
}

/**
 * When the connection to each broker is lost while it is asked for a coordinator, kafkajs says that there is none, and
 * that asking again is no use: a consumer would end for good. Here it is what it is, a connection that failed; with the
 * code of one that is refused it asks again.
 */
function lookForCoordinatorsAgain(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the cluster below
  const { findGroupCoordinatorMetadata } = Cluster.prototype;
  Cluster.prototype.findGroupCoordinatorMetadata = async function (asked) {
    try {
      return await findGroupCoordinatorMetadata.call(this, asked);
    } catch (error) {
      if (!(error instanceof KafkaJSGroupCoordinatorNotFound)) throw error;
      throw new KafkaJSConnectionError(error.message, { code: 'ECONNREFUSED' });
    }
  };
}

/**
 * A broker that has just started may tell of a topic without partitions; kafkajs then has no offsets of it, and stumbles
 * over that. Here it is what it says where a broker does not know the topic at all, for which it looks again.
 */
function missOffsetsAloud(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the cluster below
  const { fetchTopicsOffset } = Cluster.prototype;
  Cluster.prototype.fetchTopicsOffset = async function (topics) {
    const found = await fetchTopicsOffset.call(this, topics);
    if (found.length > 0) return found;
    const names = topics.map(({ topic }) => topic).join(', ');
    throw new KafkaJSProtocolError(
      Object.assign(new Error(`the broker tells of no partitions of ${names}`), {
        type: 'UNKNOWN_TOPIC_OR_PARTITION',
        code: UNKNOWN_TOPIC_OR_PARTITION,
        retriable: true,
      }),
    );
  };
}
