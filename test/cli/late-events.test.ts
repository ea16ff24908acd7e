import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { letProducersDate } from '../support/kafka-client.js';

const boards = (grace: string) => `boards:
  arena:
    columns: [{ name: points }]
    windows: [all, { window: day, close: { from: 2026-01-01, grace: ${grace} } }]
  daily:
    columns: [{ name: points }]
    windows: [{ window: day, close: { from: 2026-01-01, grace: 10m } }]
`;

const DAY = '2026-03-10';
const END = Date.parse('2026-03-11T00:00:00Z');
const event = (board: string, playerId = 'ada') =>
  JSON.stringify({ board, playerId, delta: 1, occurredAt: `${DAY}T12:00:00Z` });

describe('events that come after their windows have closed', () => {
  let instance: TestInstance;
  let service: RanklogProcess;
  const ranklog = async (...args: string[]) => {
    const child = instance.spawn(...args);
    return { code: await child.ended, out: child.output, err: child.errors };
  };
  const json = async <T>(...args: string[]) =>
    JSON.parse((await ranklog(...args, '--json')).out) as T;

  beforeAll(async () => {
    instance = await TestInstance.create(boards('10m'), { partitions: 1 });
    await letProducersDate(instance, instance.topics.scoreEvents);
    service = await instance.start();
    const producer = instance.kafka.producer();
    await producer.connect();
    const record = (board: string, timestamp: number, playerId = 'ada') => {
      return { key: playerId, value: event(board, playerId), timestamp: String(timestamp) };
    };
    const messages = [
      record('arena', END),
      record('arena', END + 600_000),
      record('arena', END + 600_001),
      record('daily', END + 600_001),
    ];
    await producer.send({ topic: instance.topics.scoreEvents, messages });
    await producer.disconnect();
    await instance.published(messages.length);
  });
  afterAll(() => instance.remove());

  it('count in open windows only, as explain shows', async () => {
    const effects = async (view: string) => {
      const { events } = await json<{ events: { effect: string }[] }>(
        ...['explain', 'arena', 'ada', '--view', view],
      );
      return events.map(({ effect }) => effect);
    };
    expect(await effects('all')).toEqual(['counts', 'counts', 'counts']);
    expect(await effects(`day:${DAY}`)).toEqual([
      'counts',
      'counts',
      'late: the window had closed; in other views',
    ]);
    const { entries } = await instance.reader.standings('arena', { view: `day:${DAY}`, limit: 1 });
    expect(entries).toMatchObject([{ columns: { points: '2' } }]);
    const sent = { board: 'arena', playerId: 'ada', delta: 1, occurredAt: `${DAY}T12:00:00Z` };
    const places = await instance.reader.placesOfEvent(sent);
    expect(places.map(({ view }) => view)).toEqual(['all', `day:${DAY}`]);
  });

  it('are not sent by produce, import or retry, if no window is open', async () => {
    const file = `${instance.env['RANKLOG_BOARDS']}.ndjson`;
    await writeFile(file, `${event('arena', 'bob')}\n${event('daily', 'bob')}\n`);
    const produced = await ranklog('produce', file, '--json');
    expect(produced).toMatchObject({ code: 1, err: expect.stringContaining('2: WINDOW_CLOSED') });
    expect(JSON.parse(produced.out)).toMatchObject({ sent: 1, rejected: 1, partlyLate: 1 });
    const said = expect.stringContaining(', 1 too late for a closed window: counted in');
    await writeFile(file, `${event('arena', 'eve')}\n`);
    expect(await ranklog('produce', file)).toMatchObject({ code: 0, out: said });

    const rows = `${instance.env['RANKLOG_BOARDS']}.csv`;
    await writeFile(rows, 'playerId,points\nbob,1\n');
    const importing = ['import', 'daily', rows, '--at', `${DAY}T12:00:00Z`, '--dry-run', '--json'];
    const imported = await ranklog(...importing);
    expect(imported).toMatchObject({ code: 1, err: expect.stringContaining(': WINDOW_CLOSED') });
    expect(JSON.parse(imported.out)).toMatchObject({ refused: 1, toSend: 0 });
    importing[1] = 'arena';
    expect(await json(...importing)).toMatchObject({ refused: 0, partlyLate: 1, toSend: 1 });

    const retried = await ranklog('dead-letters', 'retry', '--dry-run', '--json');
    expect(retried).toMatchObject({
      code: 1,
      err: expect.stringContaining('refused again: WINDOW_CLOSED'),
    });
    expect(JSON.parse(retried.out)).toMatchObject({ selected: 1, toSend: 0, refused: 1 });
  });

  it('would count after another definition, which boards plan says of the windows that have ended', async () => {
    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', boards('1h'));
    const { boards: planned } = await json<{ boards: object[] }>('boards', 'plan');
    expect(planned).toMatchObject([
      {
        change: 'changed',
        leftOut: { events: 0 },
        closings: [
          {
            window: `day:${DAY}`,
            before: '2026-03-11T00:10:00.000Z',
            after: '2026-03-11T01:00:00.000Z',
          },
        ],
      },
      { change: 'same', closings: [] },
    ]);
    await ranklog('boards', 'apply', '--yes');
    const { entries } = await instance.reader.standings('arena', { view: `day:${DAY}`, limit: 1 });
    expect(entries).toMatchObject([{ columns: { points: '3' } }]);
    expect(service.exitCode).toBeNull();
  });
});
