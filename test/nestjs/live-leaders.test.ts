import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Inject, Query, Sse } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { LiveLeaders, RanklogModule, ScoreProducer, type LeadersEvent } from '#nestjs';
import { TestInstance, until } from '../support/instance.js';

const BOARDS = `
boards:
  quiz: { columns: [{ name: points }], publish: { leaders: 2 } }
`;

@Controller()
class Pages {
  constructor(@Inject(LiveLeaders) private readonly leaders: LiveLeaders) {}

  @Sse('top')
  top(@Query('board') board: string) {
    return this.leaders.stream(board);
  }
}

interface SentEvent {
  readonly type: string;
  readonly data: LeadersEvent;
}

let instance: TestInstance;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  await instance.start();
});
afterAll(() => instance.remove());

/** An application that serves Pages, and its address. */
async function serve() {
  const { kafka, redis, name } = instance;
  const names = { topicPrefix: name, redisPrefix: name, ranklogGroup: name };
  const built = await Test.createTestingModule({
    imports: [RanklogModule.forRoot({ kafka, redis, ...names })],
    controllers: [Pages],
  }).compile();
  const app = built.createNestApplication(new FastifyAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  return { app, url: `${await app.getUrl()}/top?board=` };
}

/** Reads a stream of server-sent events; `events` grows until `ended` resolves. */
async function read(url: string) {
  const events: SentEvent[] = [];
  const response = await fetch(url);
  const readAll = async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, type = ''] = /^event: (.*)$/m.exec(part) ?? [];
        const [, data = '{}'] = /^data: (.*)$/m.exec(part) ?? [];
        if (type !== '') events.push({ type, data: JSON.parse(data) as LeadersEvent });
      }
    }
  };
  return { events, ended: readAll() };
}

const idsOf = ({ data }: SentEvent) => data.top.map(({ playerId }) => playerId);

describe('LiveLeaders', () => {
  it('streams the leaders to all clients of a process, without a consumer group', async () => {
    const { admin, name } = instance;
    const groupsOf = async () => {
      const { groups } = await admin.listGroups();
      return groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(name));
    };
    const before = await groupsOf();
    const { app, url } = await serve();
    const producer = app.get(ScoreProducer);
    const timeoutMs = 60_000;
    await producer.sendAndWait({ board: 'quiz', playerId: 'ada', delta: 5 }, { timeoutMs });
    const clients = await Promise.all([read(`${url}quiz`), read(`${url}quiz`)]);
    await until(() => clients.every(({ events }) => events.length > 0), 'snapshots have come');
    for (const { events } of clients) expect(events.map(idsOf)).toEqual([['ada']]);
    await producer.send({ board: 'quiz', playerId: 'bob', delta: 9 });
    const hasBob = (event: SentEvent) => idsOf(event).includes('bob');
    await until(() => clients.every(({ events }) => events.some(hasBob)), 'a leader change came');
    for (const { events } of clients) {
      expect(events.map(({ type }) => type)).toEqual(['snapshot', 'leaders']);
      expect(events.at(-1)?.data).toMatchObject({
        view: 'all',
        entered: [{ playerId: 'bob', rank: 1 }],
        moved: [{ playerId: 'ada', rankBefore: 1, rankAfter: 2 }],
        left: [],
      });
    }
    await app.close();
    await Promise.all(clients.map(({ ended }) => ended));
    expect(await groupsOf()).toEqual(before);
  });
});
