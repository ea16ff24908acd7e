import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Controller, Inject, Sse, type MessageEvent } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModule } from '@nestjs/testing';
import { lastValueFrom } from 'rxjs';
import {
  BoardReader,
  ExpiredViewError,
  LiveLeaders,
  NotPublishedError,
  UnknownBoardError,
  type LeadersEvent,
} from '#nestjs';
import { RanklogTestingModule, type LeaderFields } from '#nestjs/testing';

const BOARDS = `
boards:
  quiz: { columns: [{ name: points }], windows: [all, week], publish: { leaders: 2 } }
  half: { columns: [{ name: points }], windows: [all, week], publish: { leaders: 2, windows: [week] } }
  mute: { columns: [{ name: points }] }
`;
const SUNDAY = Date.parse('2026-11-22T23:59:50.000Z');
const HEARTBEAT_MS = 15_000;

let ranklog: RanklogTestingModule;
let app: TestingModule;
let live: LiveLeaders;

beforeEach(async () => {
  jest.useFakeTimers({ now: SUNDAY, doNotFake: ['nextTick', 'setImmediate'] });
  ranklog = new RanklogTestingModule({ boards: BOARDS });
  app = await Test.createTestingModule({ imports: [ranklog.module] }).compile();
  app.useLogger(false);
  await app.init();
  live = app.get(LiveLeaders);
});
afterEach(async () => {
  await app.close();
  jest.useRealTimers();
});

@Controller()
class Pages {
  constructor(@Inject(LiveLeaders) private readonly leaders: LiveLeaders) {}

  @Sse('top')
  top() {
    return this.leaders.stream('quiz');
  }
}

/** A stream, with what it has sent. */
async function open(...args: Parameters<LiveLeaders['stream']>) {
  const events: MessageEvent[] = [];
  let end = '';
  const subscription = (await live.stream(...args)).subscribe({
    next: (event) => events.push(event),
    error: (error: Error) => (end = error.message),
    complete: () => (end = 'completed'),
  });
  await settled();
  return { events, subscription, end: () => end };
}

/** Resolves when all that does not wait for a timer is done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

const ids = (...playerIds: string[]): LeaderFields[] => playerIds.map((playerId) => ({ playerId }));
const scores = (...playerIds: string[]) =>
  playerIds.map((playerId, index) => ({ playerId, score: 10 - index }));

describe('LiveLeaders', () => {
  it('begins with a snapshot, and goes on with leader changes', async () => {
    ranklog.setStandings('quiz', scores('ada', 'bob', 'cyd'));
    const { events } = await open('quiz');
    const quiz = { board: 'quiz' };
    await ranklog.emitLeaderChange({ ...quiz, top: ids('bob', 'dan') });
    await ranklog.emitLeaderChange({ ...quiz, view: 'week:2026-W47', top: ids('eve') });
    await ranklog.emitLeaderChange({ ...quiz, board: 'half', top: ids('eve') });
    expect(events).toEqual([
      {
        type: 'snapshot',
        data: {
          board: 'quiz',
          view: 'all',
          version: expect.any(Number),
          top: [
            { playerId: 'ada', rank: 1, competitionRank: 1, columns: { points: '10' } },
            { playerId: 'bob', rank: 2, competitionRank: 2, columns: { points: '9' } },
          ],
          entered: [],
          left: [],
          moved: [],
        },
      },
      {
        type: 'leaders',
        data: expect.objectContaining({
          entered: [{ playerId: 'dan', rank: 2 }],
          left: [{ playerId: 'ada', rankBefore: 1 }],
          moved: [{ playerId: 'bob', rankBefore: 2, rankAfter: 1 }],
        }),
      },
    ]);
  });

  it('sends no leader change that the snapshot has, and those that came while it was read', async () => {
    ranklog.setStandings('quiz', scores('ada'));
    ranklog.setStandings('quiz', scores('ada', 'bob'));
    const reader = app.get(BoardReader);
    const read = reader.standings;
    jest.spyOn(reader, 'standings').mockImplementation(async (...args) => {
      const standings = await read(...args);
      const { version } = standings;
      await ranklog.emitLeaderChange({ board: 'quiz', version, top: ids('ada', 'bob') });
      await ranklog.emitLeaderChange({ board: 'quiz', top: ids('bob', 'ada') });
      return standings;
    });
    const { events } = await open('quiz');
    expect(events.map(({ type }) => type)).toEqual(['snapshot', 'leaders']);
  });

  it('sends a snapshot of the new week when it begins, and heartbeats', async () => {
    ranklog.setStandings('quiz', scores('ada'), { window: 'week' });
    const { events } = await open('quiz', { window: 'week' });
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    await settled();
    await ranklog.emitLeaderChange({
      board: 'quiz',
      view: 'week:2026-W48',
      top: ids('bob'),
    });
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(events.map(({ type, data }) => [type, (data as { view?: string }).view])).toEqual([
      ['snapshot', 'week:2026-W47'],
      ['snapshot', 'week:2026-W48'],
      ['leaders', 'week:2026-W48'],
      ['heartbeat', undefined],
    ]);
  });

  it('refuses boards that publish no leaders of the view, and unknown boards', async () => {
    await expect(live.stream('mute')).rejects.toThrow(NotPublishedError);
    await expect(live.stream('half')).rejects.toThrow(
      'board "half" publishes no leaders of the view "all"',
    );
    await expect(live.stream('none')).rejects.toThrow(UnknownBoardError);
    expect((await open('half', { window: 'week' })).events).toHaveLength(1);
  });

  it('sends a snapshot when the board has changed, and ends when it publishes no leaders any more', async () => {
    ranklog.setStandings('quiz', scores('ada', 'bob', 'cyd'));
    const { events, end } = await open('quiz');
    const reader = app.get(BoardReader);
    const live = await reader.board('quiz');
    const change = (leaders: number) => {
      const { publish } = live.definition;
      const definition = { ...live.definition, publish: { ...publish, leaders } };
      const generation = `${live.generation}-${leaders}`;
      return jest.spyOn(reader, 'board').mockResolvedValue({ ...live, generation, definition });
    };
    change(3).mockRejectedValueOnce(new Error('Redis is away'));
    await jest.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    expect(events.map(({ type }) => type)).toEqual(['snapshot', 'heartbeat', 'snapshot']);
    expect((events[2]?.data as LeadersEvent).top).toHaveLength(3);
    change(0);
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(end()).toContain('board "quiz" publishes no leaders of the view "all"');
  });

  it('keeps only the newest leaders for a client that does not read', async () => {
    jest.useRealTimers(); // Fastify waits for timers
    const server = await Test.createTestingModule({
      imports: [ranklog.module],
      controllers: [Pages],
    }).compile();
    const http = server.createNestApplication(new FastifyAdapter(), { logger: false });
    await http.listen(0, '127.0.0.1');
    const stop = new AbortController();
    const { body } = await fetch(`${await http.getUrl()}/top`, { signal: stop.signal });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (end: string) => {
      while (!text.slice(-200_000).includes(end)) text += (await reader.read()).value ?? '';
    };
    await readUntil('event: snapshot');
    const players = Array.from({ length: 500 }, (_, index) => `${index}-${'x'.repeat(90)}`);
    for (let sent = 1; sent <= 500; sent++) {
      await ranklog.emitLeaderChange({ board: 'quiz', top: ids(`first-${sent}`, ...players) });
      await new Promise(setImmediate);
    }
    await readUntil('"entered":[{"playerId":"first-500"');
    stop.abort();
    await http.close();
    expect(text.match(/^event: leaders$/gm)?.length).toBeLessThan(400);
  });

  it('refuses a view that can not be read, and errors if it can not be read later', async () => {
    const read = jest.spyOn(app.get(BoardReader), 'standings');
    read.mockRejectedValueOnce(new ExpiredViewError('quiz', 'all', 0, 1));
    await expect(live.stream('quiz')).rejects.toThrow(ExpiredViewError);
    const stream = await live.stream('quiz');
    read.mockRejectedValueOnce(new Error('no Redis'));
    await expect(lastValueFrom(stream)).rejects.toThrow('no Redis');
  });

  it('completes its streams when the application closes', async () => {
    const { end } = await open('quiz');
    await app.close();
    expect(end()).toBe('completed');
    expect((await open('quiz')).end()).toBe('completed'); // a browser that connects again
  });
});
