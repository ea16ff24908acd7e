import { isDeepStrictEqual } from 'node:util';
import { Partitioners } from 'kafkajs';
import type { BoardDefinition, Close } from '#board';
import { ScoreProducer } from '#client';
import { decodePeriodResult, type PeriodResult, type ScoreEvent } from '#contracts';
import { logRanges } from '#kafka-batch';
import { Metrics } from '../../src/infra/metrics.js';
import type { BoardRegistrar } from '../../src/reconciliation/boards/board-registrar.js';
import { PeriodAnnouncer } from '../../src/reconciliation/periods/period-announcer.js';
import { PeriodLog, readPeriodRecords } from '../../src/reconciliation/periods/period-log.js';
import { PeriodServices } from '../../src/reconciliation/periods/period-services.js';
import { configure } from '../support/kafka-client.js';
import { loggerTo } from '../support/loggers.js';
import { RedisServer } from '../support/redis-server.js';
import { readCommitted } from '../support/results.js';
import { definitionsOf, RUN, Scene } from './sandbox.js';

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** The start of the day that closes, four days ago in UTC: brokers and Redis have real clocks. */
export const START = Math.floor(Date.now() / DAY) * DAY - 4 * DAY;
export const WINDOW = `day:${new Date(START).toISOString().slice(0, 10)}`;
/** The day after it, which has closed, too. */
export const NEXT_WINDOW = `day:${new Date(START + DAY).toISOString().slice(0, 10)}`;
export const CLOSES_AT = START + DAY + HOUR;
export const TOLERANCE_MS = 60_000;

const boardsYaml = (keep: string) => `
boards:
  arena:
    columns: [{ name: points }]
    windows: [{ window: day, keep: ${keep} }]
    dimensions: [[], [region]]
`;

const KEEP_ALL = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' };

export const CLOSE: Close = { from: START, graceMs: HOUR, reviewMs: 0, results: 3 };

/** An event of the day, in the middle of it. */
export const event = (playerId: string, delta: number, region = 'eu'): ScoreEvent => ({
  board: 'arena',
  playerId,
  delta,
  occurredAt: new Date(START + 12 * HOUR).toISOString(),
  attributes: { region },
});

export const nextDaysEvent = (playerId: string, delta: number): ScoreEvent => ({
  ...event(playerId, delta),
  occurredAt: new Date(START + 36 * HOUR).toISOString(),
});

interface PeriodSceneOptions {
  readonly ownRedis?: RedisServer;
  readonly keep?: string;
  readonly close?: Partial<Close>;
}

/**
 * A board with a closing window whose events were stamped days ago, as a topic with CreateTime
 * allows; then the broker stamps records. Ingest has published the events and is stopped.
 */
export class PeriodScene {
  logs: string[] = [];
  /** Of all announcers. */
  metrics = new Metrics();
  #sent = 0;
  #close: Partial<Close>;
  /** By partition of the topic of results, where those of this test begin. */
  #resultsFrom: ReadonlyMap<number, number> = new Map();

  private constructor(
    readonly scene: Scene,
    private readonly options: PeriodSceneOptions,
  ) {
    this.#close = options.close ?? {};
  }

  static async open(events: readonly ScoreEvent[], options: PeriodSceneOptions = {}) {
    const { ownRedis, keep = '60d' } = options;
    const never = () => event('nobody', 0);
    const scene = await Scene.open(boardsYaml(keep), never, {
      partitions: 2,
      ...(ownRedis && { ownRedis }),
    });
    const self = new PeriodScene(scene, options);
    await self.createResults();
    await self.stampsBy('CreateTime');
    await self.send(events);
    await scene.start();
    await scene.instance.published(events.length);
    await scene.stop();
    await self.stampsBy('LogAppendTime');
    await self.build();
    return self;
  }

  /**
   * Begins the next test: nothing is announced or noted, and the window closes so. It has all
   * events that were sent.
   */
  async begin(close: Partial<Close> = {}): Promise<void> {
    const { kafka, topics, name } = this.instance;
    if ((await readPeriodRecords(this.instance)).size > 0) {
      await using log = await PeriodLog.open(this.instance, name);
      await log.delete([...log.records.values()]);
    }
    const ranges = await logRanges(kafka, topics.periodResults);
    this.#resultsFrom = new Map([...ranges].map(([partition, { end }]) => [partition, end]));
    this.#forget();
    this.#close = close;
    const { definition } = await this.sandbox.live('arena');
    if (!isDeepStrictEqual(definition, this.definition)) await this.build();
  }

  #forget(): void {
    this.logs = [];
    this.metrics.registry.clear();
    this.metrics = new Metrics();
  }

  get instance() {
    return this.scene.instance;
  }

  get sandbox() {
    return this.scene.sandbox;
  }

  get definition(): BoardDefinition {
    return this.definitionWith(this.#close);
  }

  /** The board with a closing window. */
  definitionWith(close: Partial<Close> = {}): BoardDefinition {
    const [definition] = definitionsOf(boardsYaml(this.options.keep ?? '60d'));
    if (definition === undefined) throw new Error('no board');
    const closing = { ...CLOSE, ...close };
    return {
      ...definition,
      windows: definition.windows.map((one) => ({ ...one, close: closing })),
    };
  }

  /** Promotes a build with the closing window. */
  async build(definition = this.definition): Promise<void> {
    await this.sandbox.reconciler.build([definition], RUN);
  }

  /**
   * Sends events; in a topic with CreateTime, their records have the time an hour after the event.
   */
  async send(events: readonly ScoreEvent[]): Promise<void> {
    const { kafka, topics, name } = this.instance;
    const maker = new ScoreProducer({ kafka, topicPrefix: name });
    const createPartitioner = Partitioners.DefaultPartitioner;
    const producer = kafka.producer({ createPartitioner });
    const messages = events.map((one) => {
      const timestamp = Date.parse(one.occurredAt ?? '') + HOUR;
      return { ...maker.toMessage(JSON.stringify(one)), timestamp: String(timestamp) };
    });
    await producer.connect();
    try {
      await producer.send({ topic: topics.scoreEvents, messages });
    } finally {
      await producer.disconnect();
    }
    this.#sent += events.length;
  }

  /** Waits until all that was sent is published. */
  async published(): Promise<void> {
    await this.instance.published(this.#sent);
  }

  async stampsBy(type: 'CreateTime' | 'LogAppendTime'): Promise<void> {
    const { instance } = this;
    const settings = { ...KEEP_ALL, 'message.timestamp.type': type };
    await configure(instance, instance.topics.scoreEvents, settings);
  }

  /** The services of another process. */
  services(): PeriodServices {
    const { sandbox, instance } = this;
    const settings = { clockTolerance: TOLERANCE_MS };
    return new PeriodServices(sandbox, instance, { group: instance.name }, settings);
  }

  /** An announcer as in another process. */
  async announcer(services = this.services()): Promise<PeriodAnnouncer> {
    return this.announcerOf(services, await this.sandbox.store.boards());
  }

  announcerOf(services: PeriodServices, known: Pick<BoardRegistrar, 'live'>): PeriodAnnouncer {
    const logger = loggerTo((message) => this.logs.push(message));
    return new PeriodAnnouncer(services, known, this.metrics, logger);
  }

  /** One turn of a new announcer. */
  async turn(services?: PeriodServices): Promise<void> {
    await (await this.announcer(services)).turn(RUN.signal);
  }

  async results(): Promise<PeriodResult[]> {
    const { kafka, topics } = this.instance;
    const records = await readCommitted(kafka, topics.periodResults);
    return records
      .filter(({ partition, offset }) => offset >= (this.#resultsFrom.get(partition) ?? 0))
      .map((record) => decodePeriodResult(record));
  }

  /** `VIEW REVISION` of each announcement, sorted. */
  async announced(): Promise<string[]> {
    return (await this.results()).map(({ view, revision }) => `${view} ${revision}`).sort();
  }

  /** The record of the day that closes. */
  async record() {
    return (await readPeriodRecords(this.instance)).get(`arena ${WINDOW}`);
  }

  async gauge(name: string): Promise<number | undefined> {
    const found = await this.metrics.registry.getSingleMetric(name)?.get();
    return found?.values.find(({ labels }) => labels['board'] === 'arena')?.value;
  }

  async close(): Promise<void> {
    this.metrics.registry.clear();
    await this.scene.close();
  }

  /** `ranklog topics` creates it, too. */
  async createResults(): Promise<void> {
    const { admin, topics } = this.instance;
    const known = await admin.listTopics();
    if (known.includes(topics.periodResults)) return;
    await admin.createTopics({
      topics: [{ topic: topics.periodResults, numPartitions: 2 }],
      waitForLeaders: false,
    });
    this.#resultsFrom = new Map();
  }
}
