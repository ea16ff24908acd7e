import Broker, { type FetchResponse } from 'kafkajs/src/broker/index.js';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { registerCodecs } from './codecs.js';
import { abortedMessages } from './committed-messages.js';
import { patchConnections } from './connection-patches.js';
import { handOverEveryFetch } from './every-fetch.js';
import { rejoinLostMembers } from './lost-members.js';

/** How often kafkajs looks for requests that wait for a place among those in flight. */
const PENDING_CHECK_MS = 10;

let patched = false;

/**
 * Repairs kafkajs 2.2.4, which nobody maintains, for the whole process. Whoever makes a consumer or producer calls it
 * first; what was made before is repaired too. Calling it again does nothing.
 */
export function patchKafkajs(): void {
  if (patched) return;
  patched = true;
  registerCodecs();
  patchConnections();
  wakeOnlyForWork();
  hideAbortedRecords();
  keepGroupOffsets();
  rejoinLostMembers();
  handOverEveryFetch();
}

/** Without it, each connection wakes up every millisecond to look at an empty queue (tulios/kafkajs#1751). */
function wakeOnlyForWork(): void {
  RequestQueue.prototype.scheduleCheckPendingRequests = function () {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const throttledMs = this.throttledUntil - Date.now();
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : PENDING_CHECK_MS,
    );
  };
}

/**
 * kafkajs lets aborted records through when transactions interleave, and takes any key of four zero bytes for the end
 * of one. Aborted records become control records here, which it drops by itself and counts as read; gone from the
 * answer, a fetch of nothing else would be repeated for ever.
 */
function hideAbortedRecords(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the broker below
  const fetch = Broker.prototype.fetch;
  Broker.prototype.fetch = async function (request) {
    const fetched = await fetch.call(this, request);
    for (const { partitions } of fetched.responses) partitions.forEach(markAborted);
    return fetched;
  };
}

function markAborted(partition: FetchResponse['responses'][number]['partitions'][number]): void {
  for (const message of abortedMessages(partition)) message.isControlRecord = true;
  partition.abortedTransactions = [];
}

/**
 * When the log does not hold the offset that it asks for, kafkajs commits -1 or -2 to the group, even without
 * autoCommit, and so the position is lost. Here it goes to the same offset, and commits nothing.
 */
function keepGroupOffsets(): void {
  OffsetManager.prototype.setDefaultOffset = async function ({ topic, partition }) {
    const { fromBeginning } = this.topicConfigurations[topic] ?? {};
    const asked = { topic, partitions: [{ partition }], fromBeginning };
    const [found] = await this.cluster.fetchTopicsOffset([asked]);
    const offset = found?.partitions[0]?.offset;
    const resolved = this.resolvedOffsets[topic];
    if (offset !== undefined && resolved !== undefined) resolved[partition] = offset;
  };
}
