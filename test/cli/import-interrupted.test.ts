import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { logRanges } from '#kafka-batch';
import { RanklogProcess, TestInstance, until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';

const AT = '2026-11-20T00:00:00.000Z';
/** Their events take three transactions or more. */
const PLAYERS = 12_000;
const BOARDS = ['killed', 'paused', 'hidden', 'piped'];

const rowsOf = (count: number) =>
  ['playerId,score', ...Array.from({ length: count }, (_, serial) => `p-${serial},7`)].join('\n');

describe('ranklog import', () => {
  let instance: TestInstance;
  let proxy: KafkaProxy;
  const behindProxy: RanklogProcess[] = [];
  let folder = '';
  let source = '';

  beforeAll(async () => {
    const boards = BOARDS.map((board) => `${board}: { columns: [{ name: score }] }`).join(', ');
    instance = await TestInstance.create(`boards: { ${boards} }`, { partitions: 3 });
    await instance.start();
    proxy = await KafkaProxy.toBroker();
    folder = await mkdtemp(path.join(tmpdir(), 'ranklog-test-'));
    source = path.join(folder, 'scores.csv');
    await writeFile(source, rowsOf(PLAYERS));
  });
  afterAll(async () => {
    for (const child of behindProxy) child.kill('SIGKILL');
    await instance.remove();
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  });

  const argsOf = (board: string, from = source) => ['import', board, from, '--at', AT, '--json'];
  const start = (board: string, from = source) => instance.spawn(...argsOf(board, from));
  const answer = async (child: RanklogProcess) => {
    const code = await child.ended;
    if (code !== 0) throw new Error(child.errors);
    return JSON.parse(child.output) as { repeated: number; sent: number };
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
  /** Without the transactions that are not complete. */
  const logLength = async () => {
    const ends = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    return sum(ends.map(({ offset }) => Number(offset)));
  };
  /** Kafka completes a transaction a moment after it has confirmed the commit. */
  const lengthOnceComplete = async () => {
    const { kafka, topics } = instance;
    let written = NaN;
    await until(async () => {
      const ranges = await logRanges(kafka, topics.scoreEvents, 'written');
      written = sum([...ranges.values()].map(({ end }) => end));
      return (await logLength()) === written;
    }, 'all transactions are complete');
    return written;
  };
  /**
   * Starts an import, and suspends it when some of its events are in the log, and others are not:
   * each commit takes a second.
   */
  const suspended = async (board: string) => {
    const before = await logLength();
    proxy.onRequest(KAFKA_API.endTxn, { delayMs: 1_000 }, { times: 2 });
    const child = new RanklogProcess(argsOf(board), {
      ...instance.env,
      KAFKA_BROKERS: proxy.broker,
    });
    behindProxy.push(child);
    await until(async () => (await logLength()) > before, 'some events are sent');
    child.kill('SIGSTOP');
    return child;
  };
  const leaseOf = (board: string) => new KeySpace(instance.name).lease(0, `${board} (import)`);
  const expectOnce = async (board: string, count = PLAYERS) => {
    await instance.run('status', '--wait', '60');
    const { size, entries } = await instance.reader.standings(board, { limit: 1 });
    expect([size, entries[0]?.columns['score']]).toEqual([count, '7']);
  };

  it('sends the rest when it is repeated after it was killed, and never two imports into a board at a time', async () => {
    const first = await suspended('killed');
    const second = start('killed');
    expect([await second.ended, second.errors]).toEqual([
      3,
      expect.stringContaining(`:${first.pid}`),
    ]);
    first.kill('SIGKILL');
    await first.ended;
    await instance.redis.del(leaseOf('killed')); // as if it had expired
    const { repeated, sent } = await answer(start('killed'));
    expect(repeated + sent).toBe(PLAYERS);
    expect(sent).toBeGreaterThan(0);
    await expectOnce('killed');
  });

  it('sends nothing more once another import has taken over, even if its lease looks valid', async () => {
    const first = await suspended('paused');
    const lease = leaseOf('paused');
    const token = (await instance.redis.get(lease)) ?? '';
    await instance.redis.del(lease); // as if it had expired
    const { repeated, sent } = await answer(start('paused'));
    expect(repeated + sent).toBe(PLAYERS);
    const length = await lengthOnceComplete();
    await instance.redis.set(lease, token, 'PX', 60_000);
    first.kill('SIGCONT');
    expect([await first.ended, first.errors]).toEqual([
      3,
      expect.stringMatching(/took over.*Run the command again/),
    ]);
    expect(await lengthOnceComplete()).toBe(length);
    await expectOnce('paused');
    expect(await answer(start('paused'))).toMatchObject({ repeated: PLAYERS, sent: 0 });
  });

  it('finds what an earlier import sent behind the records of an open transaction, and waits for them', async () => {
    const first = await suspended('hidden');
    const producer = instance.kafka.producer({
      ...{ transactionalId: instance.name, idempotent: true, maxInFlightRequests: 1 },
    });
    await producer.connect();
    const transaction = await producer.transaction();
    const messages = [0, 1, 2].map((partition) => ({ partition, value: 'not a score event' }));
    await transaction.send({ topic: instance.topics.scoreEvents, messages });
    first.kill('SIGCONT');
    await answer(first);
    const again = start('hidden');
    await instance.run('views', 'hidden'); // takes as long as the other command needs to begin
    await instance.run('views', 'hidden');
    await transaction.abort();
    await producer.disconnect();
    expect(await answer(again)).toMatchObject({ repeated: PLAYERS, sent: 0 });
    await expectOnce('hidden');
  });

  it('reads a pipe to its end before it sends, and leaves no copy of it', async () => {
    const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('ranklog-import-'));
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const length = await logLength();
    const child = start('piped', pipe);
    const input = await open(pipe, 'w');
    await input.write(rowsOf(2_000));
    await instance.run('views', 'piped'); // takes as long as the other command needs to begin
    expect(await logLength()).toBe(length);
    await input.close();
    expect(await answer(child)).toMatchObject({ repeated: 0, sent: 2_000 });
    await expectOnce('piped', 2_000);
    await until(() => copies().length === 0, 'no copy is left');
  });
});
