import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RankChange } from '#client';
import { TestInstance, until, type RanklogProcess } from '../../support/instance.js';
import { causeOf, readCommitted, readRankChanges } from '../../support/results.js';
import { seededRandom } from '../../support/seeded-random.js';
import { EventReader } from './event-reader.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }], windows: [all, week], dimensions: [[], [region]] }
  wide: { columns: [{ name: points }], windows: [all, day, week, month, year], dimensions: [[], [a], [b], [c], [a, b]] }
  busy: { columns: [{ name: points }] }
  moved: { columns: [{ name: points }], publish: { rankChanges: moved } }
  quiet: { columns: [{ name: points }], publish: { rankChanges: none } }
  partly:
    columns: [{ name: points }]
    windows: [all, week, { season: s, from: 2026-01-01, to: 2100-01-01 }]
    dimensions: [[], [region]]
    publish: { windows: [week], dimensions: [[region]] }
`;

let instance: TestInstance;
let service: RanklogProcess;
let other: RanklogProcess;
let base: string;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  service = await instance.start();
  other = await instance.start('--roles', 'query');
  base = urlOf(service);
});
afterAll(() => instance.remove());

const urlOf = ({ url }: RanklogProcess) => `${url}/v1/boards`;
const refusal = async (path: string) => {
  const response = await fetch(`${base}/${path}`);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  return { status: response.status, code, detail };
};
const changesIn = (reader: EventReader) =>
  reader.of('rank-change').map(({ data }) => JSON.parse(data) as RankChange);

/** Sends random events of 20 players to a board. */
async function play(board: string, count: number, random: () => number): Promise<void> {
  const event = () => ({
    board,
    playerId: `p-${Math.floor(random() * 20)}`,
    delta: String(1 + Math.floor(random() * 100)),
    attributes: { region: random() < 0.5 ? 'eu' : 'us' },
  });
  await instance.produce(
    Array.from({ length: count }, () => JSON.stringify(event())),
    100,
  );
}

/** All committed rank changes of a board, in order within a partition. */
const committed = async (board: string) =>
  (await readRankChanges(instance.kafka, instance.topics)).filter(
    (change) => change.board === board,
  );
const byPartition = (changes: readonly RankChange[]) =>
  [...changes].sort((a, b) => a.source.partition - b.source.partition);

describe('rank changes', () => {
  it('sends each committed rank change of a board and of a player once and in order', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const board = await EventReader.open(`${base}/arena/events`);
    const player = await EventReader.open(`${base}/arena/players/p-7/events`);
    const elsewhere = await EventReader.open(`${base}/busy/events`);
    await play('arena', 2_000, random);
    await until(() => board.events.length >= 2_000, 'all rank changes are streamed');
    const expected = await committed('arena');
    expect(byPartition(changesIn(board))).toEqual(byPartition(expected));
    expect(changesIn(player)).toEqual(expected.filter(({ playerId }) => playerId === 'p-7'));
    expect(elsewhere.events).toEqual([]);
    for (const reader of [board, player, elsewhere]) reader.close();
  });

  it('answers with those of a player that it holds, also without streams, and with nothing of others', async () => {
    const all = await committed('arena');
    const read = async (path: string) => (await fetch(`${urlOf(other)}/${path}/changes`)).json();
    const [ada, nobody] = [await read('arena/players/p-7'), await read('moved/players/p-7')];
    const timestamps = (await readCommitted(instance.kafka, instance.topics.rankChanges)).map(
      ({ timestamp }) => timestamp,
    );
    expect(ada).toEqual({
      ...{ board: 'arena', playerId: 'p-7' },
      heldSince: new Date(Math.min(...timestamps)).toISOString(),
      changes: all.filter(({ playerId }) => playerId === 'p-7'),
    });
    expect(nobody).toMatchObject({ board: 'moved', playerId: 'p-7', changes: [] });
    const refused = [
      'quiet/players/p-7/changes',
      'areena/players/p-7/changes',
      'arena/players/%00/changes',
    ];
    const codes = await Promise.all(refused.map(async (path) => (await refusal(path)).code));
    expect(codes).toEqual(['NOT_PUBLISHED', 'UNKNOWN_BOARD', 'INVALID_READ']);
  });

  it('resumes without a gap or a repetition across reconnects to two processes', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const before = (await committed('arena')).length;
    let reader = await EventReader.open(`${base}/arena/events`);
    const received: RankChange[] = [];
    const played = play('arena', 3_000, random);
    for (let connection = 1; received.length < 3_000; connection++) {
      const goal = Math.min(3_000 - received.length, 1 + Math.floor(random() * 200));
      await until(
        () => reader.events.length >= goal || reader.of('reset').length > 0,
        `${received.length + goal} are received`,
      );
      reader.close();
      received.push(...changesIn(reader));
      expect(reader.of('reset')).toEqual([]);
      const service_ = connection % 2 === 0 ? service : other;
      reader = await EventReader.open(`${urlOf(service_)}/arena/events`, reader.lastId);
    }
    reader.close();
    await played;
    const all = await committed('arena');
    expect(all).toHaveLength(before + received.length);
    const streamed = new Set(received.map(causeOf));
    expect(byPartition(received)).toEqual(
      byPartition(all.filter((change) => streamed.has(causeOf(change)))),
    );
    expect(streamed.size).toBe(3_000);
  });

  it('resumes after the id of a heartbeat, and resets with an unknown id', async () => {
    const quiet = await EventReader.open(`${base}/arena/players/nobody/events`);
    const busy = await EventReader.open(`${base}/busy/events`);
    await play('busy', 10, Math.random);
    await until(() => busy.events.length === 10, 'all are streamed');
    const { heartbeats } = quiet;
    await until(() => quiet.heartbeats > heartbeats + 1, 'a heartbeat is sent after them');
    for (const reader of [quiet, busy]) reader.close();
    const resumed = await EventReader.open(`${base}/busy/events`, quiet.lastId);
    await until(() => resumed.heartbeats > 0, 'the stream is open');
    expect(resumed.events).toEqual([]);
    resumed.close();
    for (const id of ['nonsense', '0.0.0.0.0', 'zzzzzzz.0.0.0', '-1.0.0.0']) {
      const reader = await EventReader.open(`${base}/busy/events`, id);
      await until(() => reader.heartbeats > 0, 'the stream is open');
      expect(reader.events.map(({ type }) => type)).toEqual(['reset']);
      expect(JSON.parse(reader.events[0]!.data)).toEqual({ position: reader.lastId });
      reader.close();
    }
  });

  it('resets once the buffer is passed', async () => {
    const reader = await EventReader.open(`${base}/busy/events`);
    await until(() => reader.lastId !== '', 'the stream is open');
    const { lastId } = reader;
    await play('busy', 12_000, Math.random);
    await until(() => reader.events.length >= 12_000, 'all are streamed');
    reader.close();
    const late = await EventReader.open(`${base}/busy/events`, lastId);
    await until(() => late.heartbeats > 0, 'the stream is open');
    expect(late.events.map(({ type }) => type)).toEqual(['reset']);
    late.close();
    const top = await EventReader.open(`${base}/busy/standings/events`, lastId);
    await until(() => top.events.length > 0, 'the stream is open');
    expect(top.events.map(({ type }) => type)).toEqual(['reset']);
    expect(JSON.parse(top.events[0]!.data)).toEqual(
      await instance.reader.standings('busy', { limit: 10 }),
    );
    top.close();
  });
});

describe('standings', () => {
  it('sends a snapshot, and then what committed rank changes made of the view', async () => {
    const path = 'arena/standings/events?limit=3&window=week&where.region=eu';
    const readers = await Promise.all(
      Array.from({ length: 3 }, () => EventReader.open(`${base}/${path}`)),
    );
    const request = { limit: 3, window: 'week', where: { region: 'eu' } };
    const [first] = readers;
    await until(() => readers.every(({ events }) => events.length > 0), 'snapshots arrive');
    expect(JSON.parse(first!.events[0]!.data)).toEqual(
      await instance.reader.standings('arena', request),
    );
    const started = performance.now();
    await play('arena', 1_000, Math.random);
    const last = async () => JSON.stringify(await instance.reader.standings('arena', request));
    await until(
      async () => first!.events.at(-1)?.data === (await last()),
      'the last standings arrive',
    );
    const most = 2 + (performance.now() - started) / 250;
    expect(first!.events.length).toBeLessThan(most);
    expect(first!.events.map(({ type }) => type)).toEqual(
      ['snapshot'].concat(Array<string>(first!.events.length - 1).fill('standings')),
    );
    for (const reader of readers) {
      await until(() => reader.events.length === first!.events.length, 'all have the same');
      expect(reader.events).toEqual(first!.events);
      reader.close();
    }
    const again = await EventReader.open(`${base}/${path}`, first!.lastId);
    await instance.produce(
      ['zoe', 'yan'].map((playerId) =>
        JSON.stringify({ board: 'arena', playerId, delta: '1', attributes: { region: 'eu' } }),
      ),
    );
    await until(async () => again.events.at(-1)?.data === (await last()), 'both new players count');
    expect(new Set(again.events.map(({ type }) => type))).toEqual(new Set(['standings']));
    again.close();
  });

  it('resumes with the standings as they are, also without a rank change', async () => {
    const score = (delta: number) =>
      instance.produce([JSON.stringify({ board: 'moved', playerId: 'ada', delta })]);
    const points = async () =>
      (await instance.reader.standings('moved')).entries[0]?.columns['points'];
    await score(1);
    await until(async () => (await points()) === '1', 'the score counts');
    const url = `${base}/moved/standings/events`;
    const first = await EventReader.open(url);
    await until(() => first.lastId !== '', 'the snapshot arrives');
    first.close();
    await score(1);
    await until(async () => (await points()) === '2', 'the score counts');
    const elsewhere = `${urlOf(other)}/moved/standings/events`;
    const again = await EventReader.open(elsewhere, first.lastId);
    await until(() => again.events.length > 0, 'the standings arrive', 10);
    expect(again.events[0]).toMatchObject({
      type: 'standings',
      data: JSON.stringify(await instance.reader.standings('moved', { limit: 10 })),
    });
    again.close();
  });

  it('refuses what cannot be streamed', async () => {
    for (const path of [
      'quiet/events',
      'quiet/players/ada/events',
      'quiet/standings/events',
      'partly/standings/events',
      'partly/standings/events?window=week',
      'partly/standings/events?where.region=eu',
      'partly/standings/events?window=season:s&where.region=eu',
    ]) {
      expect([path, await refusal(path)]).toMatchObject([
        path,
        { status: 409, code: 'NOT_PUBLISHED' },
      ]);
    }
    const allowed = await EventReader.open(
      `${base}/partly/standings/events?window=week&where.region=eu`,
    );
    await until(() => allowed.events.length > 0, 'the snapshot arrives');
    allowed.close();
    expect(await refusal('areena/events')).toMatchObject({ status: 404, code: 'UNKNOWN_BOARD' });
    expect(await refusal('arena/events?limit=1')).toMatchObject({ code: 'UNKNOWN_PARAMETER' });
    expect(await refusal('arena/standings/events?limit=101')).toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await refusal('arena/standings/events?window=moon')).toMatchObject({ status: 404 });
    const head = await fetch(`${base}/arena/events`, { method: 'HEAD' });
    expect(head.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  });
});

describe('connections', () => {
  it('drops a client that does not read, and no other', async () => {
    const slow = openSocket(`${base}/wide/events`);
    const reader = await EventReader.open(`${base}/wide/events`);
    const attributes = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [name, Array.from({ length: 4 }, (_, n) => `${name}-${n}`)]),
    );
    const lines = Array.from({ length: 500 }, (_, n) =>
      JSON.stringify({ board: 'wide', playerId: `p-${n % 3}`, delta: '1', attributes }),
    );
    let sent = 0;
    for (; sent < 3_000; sent += lines.length) {
      await instance.produce(lines);
      await until(() => reader.events.length === sent + lines.length, 'all are streamed');
    }
    let bytes = 0;
    slow.on('data', (data) => (bytes += data.length)).resume();
    await until(() => slow.closed, 'the slow client is disconnected');
    const all = reader.events.reduce((sum, { data }) => sum + data.length, 0);
    process.stdout.write(`the slow client got ${bytes} bytes of ${all}\n`);
    expect(bytes).toBeLessThan(all);
    reader.close();
  });

  it('allows so many streams, and ends them when the process stops', async () => {
    instance.env['RANKLOG_QUERY_STREAMS'] = '2';
    const limited = await instance.start('--roles', 'query');
    const url = `${urlOf(limited)}/arena/events`;
    // On a busy machine, the process takes longer than a client waits to read the changes of the
    // test before.
    const opened = async (what: string) => {
      let reader: EventReader | undefined;
      const tryOpen = async () => (reader = await EventReader.open(url).catch(() => undefined));
      await until(async () => (await tryOpen()) !== undefined, what);
      return reader!;
    };
    const readers = [await opened('the changes are read'), await EventReader.open(url)];
    await expect(EventReader.open(url)).rejects.toThrow('TOO_MANY_STREAMS');
    readers[0]!.close();
    const again = await opened('there is room again');
    limited.kill('SIGTERM');
    expect(await limited.ended).toBe(0);
    await until(() => readers[1]!.ended && again.ended, 'the streams have ended');
  });
});

/** A client that asks for a stream and reads nothing. */
function openSocket(url: string): Socket {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  return socket;
}
