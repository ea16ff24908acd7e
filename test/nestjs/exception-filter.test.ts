import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Inject, Module, Param, Post, Query } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  BoardReader,
  RanklogExceptionFilter,
  RanklogModule,
  ScoreProducer,
  type ScoreEvent,
} from '#nestjs';
import { TestInstance } from '../support/instance.js';

/** A service with paths of ranklog's own HTTP interface. */
@Controller('v1/boards')
class Boards {
  constructor(
    @Inject(BoardReader) private readonly reader: BoardReader,
    @Inject(ScoreProducer) private readonly producer: ScoreProducer,
  ) {}

  @Get(':board/standings')
  standings(@Param('board') board: string, @Query() query: Readonly<Record<string, string>>) {
    return this.reader.standings(board, query);
  }

  @Post(':board/events')
  send(@Param('board') board: string, @Body() event: ScoreEvent) {
    return this.producer.send({ ...event, board });
  }
}

@Module({ controllers: [Boards] })
class BoardsModule {}

let instance: TestInstance;
let app: NestFastifyApplication;
let ours: string;
let theirs: string;

beforeAll(async () => {
  const boards = 'boards: { arena: { columns: [{ name: points }], windows: [all, week] } }';
  instance = await TestInstance.create(boards, { env: { RANKLOG_QUERY_WRITES: 'true' } });
  ours = (await instance.start()).url;
  const { kafka, redis, name } = instance;
  const options = { kafka, redis, topicPrefix: name, redisPrefix: name, ranklogGroup: name };
  const imports = [RanklogModule.forRoot(options), BoardsModule];
  const built = await Test.createTestingModule({ imports }).compile();
  app = built.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
    logger: false,
  });
  app.useGlobalFilters(new RanklogExceptionFilter());
  await app.listen(0, '127.0.0.1');
  theirs = await app.getUrl();
});
afterAll(async () => {
  await app.close();
  await instance.remove();
});

async function answerOf(base: string, path: string, event?: object) {
  const headers = { 'content-type': 'application/json' };
  const post = event && { method: 'POST', headers, body: JSON.stringify(event) };
  const response = await fetch(`${base}/v1/boards/${path}`, post);
  const type = response.headers.get('content-type');
  return { status: response.status, type, body: (await response.json()) as object };
}

describe('RanklogExceptionFilter', () => {
  it.each([
    { path: 'arena/standings?window=weekk', status: 404, code: 'NO_SUCH_VIEW', suggestion: 'week' },
    { path: 'areena/standings', status: 404, code: 'UNKNOWN_BOARD', suggestion: 'arena' },
    { path: 'arena/standings?view=all%20x', status: 400, code: 'MALFORMED_VIEW' },
    { path: 'arena/standings?after=none', status: 400, code: 'INVALID_READ' },
    { path: 'arena/events', event: { delta: 'many' }, status: 422, code: 'INVALID_EVENT' },
  ])('answers $path as ranklog does: $code', async ({ path, event, ...expected }) => {
    const answer = await answerOf(theirs, path, event);
    expect(answer.body).toMatchObject(expected);
    expect(answer).toEqual(await answerOf(ours, path, event));
  });
});
