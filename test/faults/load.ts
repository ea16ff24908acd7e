import { setTimeout as delay } from 'node:timers/promises';
import { CompressionTypes, Partitioners, type Kafka, type Message, type Producer } from 'kafkajs';
import { cloudEventHeaders, encodePlayerRecord, SCORE_EVENT_TYPE } from '#contracts';
import { COMPRESSIONS, useCompression } from '../support/compress.js';
import { BOARD_NAMES } from './boards.js';
import { withHostileHeaders, withRawNames } from './hostile-headers.js';
import { below, pick, type Random } from './random.js';
import { recordContent } from './record-content.js';

const PLAYERS = Array.from({ length: 9 }, (_, index) => `player ${index}`).concat(['ü%=', '😀']);
/** Two events of this player exceed the range of a sum, so all but the first are refused. */
const RICH = 'croesus';
/** Players who are banned and unbanned; their events go on. */
const MODERATED = ['player 1', 'player 4', 'player 7', 'ü%='];
/** Players who are erased, from some board each time. */
const ERASED = ['player 7', '😀'];
const REGIONS = ['eu', 'us 1'];
const DELTAS = ['-2.5', '-1', '0', '0', '0.01', '1', '1', '2.50', '10'];
const SHARE_OF_BAD_RECORDS = 0.03;
const SHARE_OF_PLAYER_RECORDS = 0.05;
const SHARE_OF_ERASURES = 0.04;
const SHARE_OF_BAD_PLAYER_RECORDS = 0.1;
/** How far back player records are dated: often before others that are earlier in the log. */
const MOST_BACK_MS = 5_000;
const SHARE_OF_THE_RICH = 0.02;
const SHARE_OF_EARLY_RECORDS = 0.05;
const SHARE_WITH_BONUS = 0.05;
const SHARE_OF_LATE_EVENTS = 0.2;
/**
 * Longer than a round and its grace: some late events come in time, most after their round has
 * closed.
 */
const MOST_LATE_MS = 20_000;
const SHARE_OF_HOSTILE_HEADERS = 0.1;
const SHARE_OF_COMPRESSED_BURSTS = 0.75;
const HOUR_MS = 3_600_000;
/**
 * How far events are dated after their records: more than some definitions allow (maxAhead), or
 * than all. These records have an old timestamp, and every definition takes their retries, which
 * have the time of the retry.
 */
const HOURS_AHEAD = [2, 48];
/**
 * If the broker stamps the records, early events are dated after now by what definitions allow, and
 * by this: so little that a command that retries them starts later than that.
 */
const HOURS_ALLOWED = [1, 24];
const MS_TOO_FAR = 500;

/** A random record for the score topic. */
function recordFrom(random: Random, serial: number, isStamped: boolean): Message {
  if (random() < SHARE_OF_BAD_RECORDS) return badRecord(random);
  if (random() < SHARE_OF_PLAYER_RECORDS) return playerRecord(random, serial);
  const playerId = random() < SHARE_OF_THE_RICH ? RICH : pick(random, PLAYERS);
  const event = eventFor(random, playerId, serial);
  const record = message(event, serial);
  // Retries of early records would race with the end of their round.
  if (random() >= SHARE_OF_EARLY_RECORDS || event.board === 'blitz') return record;
  if (isStamped) return earlyEvent(random, event, serial);
  const timestamp = Date.parse(event.occurredAt) - pick(random, HOURS_AHEAD) * HOUR_MS;
  return { ...record, timestamp: String(timestamp) };
}

/** Not of the board with duplicates: its event clock would pass all other events. */
function earlyEvent(random: Random, event: Event, serial: number): Message {
  if (event.board === 'sprint') return message(event, serial);
  const time = Date.now() + pick(random, HOURS_ALLOWED) * HOUR_MS + MS_TOO_FAR;
  return message({ ...event, occurredAt: new Date(time).toISOString() }, serial);
}

interface Event {
  readonly board: string;
  readonly playerId: string;
  readonly occurredAt: string;
  readonly eventId?: string;
  readonly deltas: Readonly<Record<string, string | number>>;
  readonly attributes?: Readonly<Record<string, string>>;
}

/**
 * A random event. It has one of a few values and times, so that there are many ties. Those of
 * rounds are dated now, or a little earlier.
 */
function eventFor(random: Random, playerId: string, serial: number): Event {
  const time = Date.parse('2026-03-01T20:00:00Z') + below(random, 60) * HOUR_MS;
  const common = { playerId, occurredAt: new Date(time).toISOString() };
  switch (playerId === RICH ? 0 : below(random, 5)) {
    case 0:
    case 1:
      return {
        ...common,
        board: 'arena',
        deltas: {
          points: playerId === RICH ? '45035996273704.96' : pick(random, DELTAS),
          wins: below(random, 2),
          // Only the second definition has this column
          ...(random() < SHARE_WITH_BONUS ? { bonus: 1 } : {}),
        },
        attributes: { region: pick(random, REGIONS) },
      };
    case 2:
      // Some ids are duplicates.
      return {
        ...common,
        board: 'sprint',
        eventId: `run-${serial - (random() < 0.2 ? below(random, 40) : 0)}`,
        deltas: { seconds: `${9 + below(random, 20) / 10}`, style: below(random, 3) },
      };
    case 3:
      return {
        ...common,
        board: 'blitz',
        occurredAt: new Date(Date.now() - lateMs(random)).toISOString(),
        deltas: { points: below(random, 4) },
        attributes: { region: pick(random, REGIONS) },
      };
    default:
      return {
        ...common,
        board: 'form',
        deltas: { rating: below(random, 6), ...(random() < 0.5 ? { games: 1 } : {}) },
      };
  }
}

function lateMs(random: Random): number {
  return random() < SHARE_OF_LATE_EVENTS ? below(random, MOST_LATE_MS) : 0;
}

function message(event: Event, serial: number): Message {
  const id = event.eventId ?? `event-${serial}`;
  const headers = cloudEventHeaders({ id, type: SCORE_EVENT_TYPE, source: '/faults' });
  const plain = { key: event.playerId, value: JSON.stringify(event) };
  return serial % 2 === 0 ? plain : { ...plain, headers };
}

/** A record of one of ten kinds that can never be applied. */
function badRecord(random: Random): Message {
  const key = pick(random, PLAYERS);
  const event = { board: 'arena', playerId: key, deltas: { points: '1' } };
  const values = [
    null,
    '',
    '{ garbage',
    '[]',
    Buffer.from([0xff, 0xfe]),
    JSON.stringify({ ...event, board: 'nowhere' }),
    JSON.stringify(event),
    JSON.stringify({ ...event, deltas: { points: '0.001' }, attributes: { region: 'eu' } }),
    JSON.stringify({ ...event, deltas: { speed: 1 }, attributes: { region: 'eu' } }),
    JSON.stringify({ ...event, occurredAt: 'yesterday', attributes: { region: 'eu' } }),
  ];
  return { key, value: pick(random, values) };
}

/**
 * A ban, unban or erasure on one board; sometimes one that can't be applied, of six kinds, or only
 * when it is retried.
 */
function playerRecord(random: Random, serial: number): Message {
  const isErasure = random() < SHARE_OF_ERASURES;
  const kind = isErasure ? 'erased' : pick(random, ['banned', 'unbanned', 'unbanned'] as const);
  const playerId = pick(random, isErasure ? ERASED : MODERATED);
  const now = Date.now();
  const attributes = {
    id: `change-${serial}`,
    source: '/faults',
    time: now - below(random, MOST_BACK_MS),
  };
  const record = encodePlayerRecord(
    kind,
    { board: pick(random, BOARD_NAMES), playerId },
    attributes,
  );
  const dated = (time: string): Message => {
    return { ...record, headers: { ...record.headers, ranklog_time: time } };
  };
  if (random() >= SHARE_OF_BAD_PLAYER_RECORDS) return random() < 0.5 ? record : undated(record);
  const value = (fields: object) => ({
    ...record,
    value: JSON.stringify({ board: 'arena', playerId, ...fields }),
  });
  return pick(random, [
    dated(String(now + HOUR_MS + MS_TOO_FAR)), // a retry of it counts
    dated(String(now + 2 * HOUR_MS)),
    dated('yesterday'),
    { ...record, value: '[]' },
    value({ board: 'nowhere' }),
    value({ playerId: 7 }),
    value({ reason: 'x'.repeat(257) }),
  ]);
}

/** It counts by the timestamp of the record. */
function undated(record: Message): Message {
  const headers = { ...record.headers };
  delete headers['ranklog_time'];
  return { ...record, headers };
}

/** `isStamped`: whether the broker stamps the records. */
interface LoadTarget {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly isStamped: boolean;
}

const RECORDS_A_SECOND = 60;
const MAX_BURST = 90;

/**
 * Sends random records at a bounded rate, in bursts of random sizes and with random codecs, until
 * it is stopped. Records that are sent again because the response was lost may be in the log twice;
 * the checks use the log as the truth. States: new, started, stopped.
 */
export class Load {
  /** The contents of the records. */
  readonly sent = new Set<string>();
  readonly #producer: Producer;
  #stopping = false;
  #done: Promise<void> = Promise.resolve();
  #serial = 0;

  constructor(
    private readonly target: LoadTarget,
    private readonly random: Random,
    /** Counts what it sends, by kind. */
    private readonly count: (what: string) => void,
  ) {
    this.#producer = target.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
    });
  }

  async start(): Promise<void> {
    await this.#producer.connect();
    this.#done = this.#send();
  }

  /** Resolves when the last records are in the log. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#done;
    await this.#producer.disconnect();
  }

  async #send(): Promise<void> {
    while (!this.#stopping) {
      const size = 1 + below(this.random, MAX_BURST);
      const messages = Array.from({ length: size }, () => this.#nextRecord());
      const type = this.#nextCompression();
      await Promise.all([
        this.#sendSafely(messages, type),
        delay((size / RECORDS_A_SECOND) * 1_000),
      ]);
    }
  }

  #nextRecord(): Message {
    const record = recordFrom(this.random, this.#serial++, this.target.isStamped);
    if (this.random() >= SHARE_OF_HOSTILE_HEADERS) return record;
    this.count('records with hostile headers');
    return withHostileHeaders(this.random, record);
  }

  /** kafkajs makes a batch for each partition of a burst. */
  #nextCompression(): CompressionTypes {
    const isPlain = this.random() >= SHARE_OF_COMPRESSED_BURSTS;
    const compression = pick(this.random, COMPRESSIONS);
    if (isPlain) return CompressionTypes.None;
    useCompression({
      ...compression,
      compress: (bytes) => compression.compress(withRawNames(bytes)),
    });
    this.count(`bursts in ${compression.name}`);
    return compression.type;
  }

  /** Sends again until it succeeds or `stop` was called, because the broker may be down. */
  async #sendSafely(messages: Message[], compression: CompressionTypes): Promise<void> {
    for (const message of messages) this.sent.add(recordContent(message));
    for (;;)
      try {
        await this.#producer.send({ topic: this.target.topic, messages, acks: -1, compression });
        return;
      } catch (error) {
        if (this.#stopping) throw error;
      }
  }
}
