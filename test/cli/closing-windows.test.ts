import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { definitionText } from '#board';
import { TestInstance, until } from '../support/instance.js';
import { configure, letProducersDate } from '../support/kafka-client.js';

const BOARDS = 'boards: { weekly: { columns: [{ name: points }], windows: [week] } }';
const CLOSE = { from: 0, graceMs: 0, reviewMs: 0, results: 10 };
const TIMESTAMP_TYPE = 'message.timestamp.type';

interface Finding {
  readonly check: string;
  readonly outcome: string;
  readonly text: string;
}

describe('what keeps a closed window from being announced', () => {
  let instance: TestInstance;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    await instance.run('boards', 'apply', '--yes');
  });
  afterAll(() => instance.remove());

  /** Makes the live definition in Redis one whose weeks close. */
  async function closeWeeks(): Promise<void> {
    const { board, generation, definition } = await instance.reader.board('weekly');
    expect(board).toBe('weekly');
    const windows = definition.windows.map((window) =>
      window.kind === 'all' ? window : { ...window, close: CLOSE },
    );
    const key = new KeySpace(instance.name).definitions(0);
    await instance.redis.hset(key, generation, definitionText({ ...definition, windows }));
  }

  async function deletePeriodResults(): Promise<void> {
    const { admin, topics } = instance;
    await admin.deleteTopics({ topics: [topics.periodResults] });
    await until(
      async () => !(await admin.listTopics()).includes(topics.periodResults),
      'the topic is deleted',
    );
  }

  /** What doctor, status and a start say. */
  async function said() {
    const doctor = JSON.parse(await instance.run('doctor', '--json')) as Finding[];
    const status = instance.spawn('status', '--json');
    expect(await status.ended).toBe(0);
    expect(JSON.parse(status.output)).toMatchObject({ boards: [{ board: 'weekly' }] });
    const service = await instance.start();
    service.kill('SIGTERM');
    await service.ended;
    const { outcome, text } = doctor.find(({ check }) => check === 'Closing windows')!;
    return { outcome, texts: [text, status.errors, service.errors] };
  }

  const expectSaid = async (...parts: readonly string[]) => {
    const { outcome, texts } = await said();
    expect(outcome).toBe(parts.length > 0 ? 'warning' : 'ok');
    for (const text of texts) {
      for (const part of parts) expect(text).toContain(part);
      expect(text.match(/closing windows of weekly: /g) ?? []).toHaveLength(parts.length);
    }
  };
  const byProducers = () =>
    `windows close by the producers' timestamps and nothing is announced, because topic ${instance.topics.scoreEvents} lacks ${TIMESTAMP_TYPE}=LogAppendTime`;
  const noTopic = () =>
    `nothing is announced, because Kafka shows no topic ${instance.name}.period`;

  it('is no matter of a board whose windows do not close, also in a ranklog from before', async () => {
    await letProducersDate(instance, instance.topics.scoreEvents);
    await deletePeriodResults();
    await expectSaid();
  });

  it('is a score topic whose records the producers date, and a topic that is missing', async () => {
    await closeWeeks();
    await expectSaid(byProducers(), noTopic());
  });

  it('is gone with the command that the message shows, and "ranklog topics"', async () => {
    await instance.run('topics');
    await expectSaid(byProducers());
    await configure(instance, instance.topics.scoreEvents, {
      'retention.ms': '-1',
      [TIMESTAMP_TYPE]: 'LogAppendTime',
    });
    await expectSaid();
  });
});
