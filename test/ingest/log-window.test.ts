import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lookAt, WrongLogError, type KafkaRecord, type PartitionAssignment } from '#kafka-batch';
import { arena } from '../board-store/fixture.js';
import { TestInstance, until } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { BOARDS, scores, ScoreTopic } from './score-topic.js';
import { Metrics } from '../../src/infra/metrics.js';
import { Stores } from '../../src/infra/stores.js';
import { ApplierFactory } from '../../src/ingest/applier.js';
import { DeadLetterReport } from '../../src/ingest/dead-letter-report.js';
import { LiveBoards } from '../../src/ingest/live-boards.js';
import { Resync } from '../../src/ingest/resync.js';
import { MisplacedRecords } from '../../src/ingest/misplaced-records.js';
import { PartitionIngestFactory, type PartitionIngest } from '../../src/ingest/partition-ingest.js';
import { PartitionLogFactory } from '../../src/ingest/partition-log.js';
import { PublisherFactory } from '../../src/ingest/partition-publisher.js';
import { PartitionWaits } from '../../src/ingest/partition-waits.js';
import { ResultLog } from '../../src/ingest/result-log.js';
import { ScoreLog } from '../../src/ingest/score-log.js';

/** The test hands records of partition 0 to ingest itself, as a consumer would. */
describe('applied records of a recreated log, when no fetch has shown that it was recreated', () => {
  let instance: TestInstance;
  let log: ScoreTopic;
  let factory: PartitionIngestFactory;
  let ingest: PartitionIngest | undefined;
  const restarts: Error[] = [];

  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    log = new ScoreTopic(instance);
    const { kafka, admin, topics, redis, name } = instance;
    const { store, continuity } = new Stores(redis, { redisPrefix: name, shards: 1 });
    await store.claim();
    await store.registerBoards([
      { ...arena, columns: [{ name: 'score', update: 'sum', order: 'desc', decimals: 0 }] },
    ]);
    const resultLog = new ResultLog({ kafka, admin, topics }, { group: name }, store);
    const definitions = { readAll: () => Promise.resolve(new Map()), unreadable: new Map() };
    const resync = new Resync(continuity, resultLog, definitions, SILENT);
    const metrics = new Metrics();
    const waits = new PartitionWaits(continuity, SILENT);
    const scoreLog = new ScoreLog({ kafka, admin, topics });
    const misplaced = new MisplacedRecords(metrics, SILENT);
    factory = new PartitionIngestFactory(
      resync,
      new PublisherFactory(resultLog, new DeadLetterReport(metrics, SILENT), metrics),
      new ApplierFactory(store, new LiveBoards(store), waits, metrics),
      new PartitionLogFactory(continuity, scoreLog, misplaced),
    );
  });
  afterEach(async () => {
    await ingest?.close();
    await instance.remove();
  });

  const assignment = (): PartitionAssignment => ({
    ...{ topic: log.name, partition: 0, signal: new AbortController().signal },
    stillOurs: () => Promise.resolve(true),
    restart: (reason) => restarts.push(reason),
    progress: () => undefined,
  });
  const start = () => factory.start(assignment());
  const records = async (from: number, to: number): Promise<KafkaRecord[]> => {
    const offsets = Array.from({ length: to - from }, (_, index) => from + index);
    const at = (offset: number) =>
      lookAt(instance.kafka, { topic: log.name, partition: 0, offset });
    return (await Promise.all(offsets.map(at))).flatMap(({ record }) => record ?? []);
  };

  it('stop the partition at the next check of the log, and at its next start', async () => {
    ({ ingest } = await start());
    const apply = async (from: number, to: number) => {
      const batch = { records: await records(from, to), from, nextOffset: to, fetchedSince: 0 };
      await ingest?.handle({ ...batch, assignment: assignment(), topic: log.name, partition: 0 });
    };
    await log.send(0, ['a', 'b']);
    await apply(0, 2);
    await log.recreate(1);
    await log.send(0, ['x', 'x', 'x', 'x'], 100);
    await apply(2, 4);
    expect(await scores(instance)).toEqual({ a: 1, b: 1, x: 200 });
    await until(() => restarts.length > 0, 'the check finds that the log was recreated');
    expect(restarts[0]).toBeInstanceOf(WrongLogError);
    await ingest.close();
    ingest = undefined;
    await expect(start()).rejects.toThrow(WrongLogError);
  });
});
