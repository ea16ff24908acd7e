import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Param, Res, UseFilters } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { RpcExceptionsHandler } from '@nestjs/microservices/exceptions/rpc-exceptions-handler.js';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { lastValueFrom } from 'rxjs';
import {
  BoardBuildingError,
  InvalidPlayerRecordError,
  InvalidScoreEventError,
  KafkaUnreachableError,
  NotPublishedError,
  RanklogExceptionFilter,
  ResultUnknownError,
  SendError,
  TransactionFailedError,
} from '#nestjs';

const EVENT = { board: 'arena', playerId: 'ada' };
const AT = { topic: 'scores', partition: 1, offset: 17 };

const ERRORS: Readonly<Record<string, Error>> = {
  building: new BoardBuildingError('arena'),
  event: new InvalidScoreEventError('INVALID_NUMBER', 'delta is "x"', {
    ...{ topic: 'scores', index: 3, playerId: 'ada' },
  }),
  ban: new InvalidPlayerRecordError(0, 'reason must be shorter'),
  sending: new SendError('scores', { index: 0, playerId: 'ada' }, 0, new Error('no broker')),
  transaction: new TransactionFailedError('scores', new Error('fenced')),
  mute: new NotPublishedError('board "arena" publishes no leaders'),
  kafka: new KafkaUnreachableError(5, new Error('no answer')),
  unsent: new ResultUnknownError({ topic: 'scores' }, EVENT, 'no result after 5 ms'),
  unknown: new ResultUnknownError(AT, EVENT, 'no result after 5 ms'),
  ours: new Error('the password is swordfish'),
};

@Controller('errors')
class Errors {
  @Get(':name')
  fail(@Param('name') name: string): never {
    throw ERRORS[name] ?? new Error(`there is no error ${name}`);
  }
}

@Controller('filtered')
@UseFilters(RanklogExceptionFilter)
class Filtered {
  @Get('building')
  fail(): never {
    throw new BoardBuildingError('arena');
  }

  @Get('late')
  async failLate(@Res() reply: { readonly raw: ServerResponse }): Promise<never> {
    reply.raw.write('half an answer');
    await new Promise(setImmediate);
    throw new BoardBuildingError('arena');
  }
}

@Module({
  controllers: [Errors],
  providers: [{ provide: APP_FILTER, useClass: RanklogExceptionFilter }],
})
class Global {}

@Module({ controllers: [Filtered] })
class Local {}

const apps: NestFastifyApplication[] = [];
let global: string;
let local: string;

async function start(module: new () => object): Promise<string> {
  const built = await Test.createTestingModule({ imports: [module] }).compile();
  const app = built.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
    logger: false,
  });
  apps.push(app);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

beforeAll(async () => {
  global = await start(Global);
  local = await start(Local);
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

async function answerOf(name: string) {
  const response = await fetch(`${global}/errors/${name}`);
  const { status, headers } = response;
  const body = (await response.json()) as Record<string, unknown>;
  return { status, type: headers.get('content-type'), retry: headers.get('retry-after'), body };
}

const PROBLEM = 'application/problem+json; charset=utf-8';

describe('RanklogExceptionFilter', () => {
  it('answers with problem details, and with retry-after if the status is 503', async () => {
    expect(await answerOf('building')).toEqual({
      status: 503,
      type: PROBLEM,
      retry: '1',
      body: {
        type: 'urn:ranklog:problem:BOARD_BUILDING',
        title: 'Board is being built',
        status: 503,
        detail: ERRORS['building']?.message,
        code: 'BOARD_BUILDING',
      },
    });
  });

  it('names the event that ranklog would refuse, with the way out', async () => {
    const { status, retry, body } = await answerOf('event');
    expect({ status, retry }).toEqual({ status: 422, retry: null });
    expect(body).toMatchObject({
      detail: 'event 3: delta is "x"; no event was sent',
      code: 'INVALID_EVENT',
      event: { index: 3, code: 'INVALID_NUMBER', wayOut: expect.stringMatching(/./) },
    });
  });

  it.each([
    ['ban', 400, 'INVALID_REQUEST'],
    ['sending', 503, 'SEND_FAILED'],
    ['transaction', 503, 'SEND_FAILED'],
    ['mute', 409, 'NOT_PUBLISHED'],
    ['kafka', 503, 'LOG_UNAVAILABLE'],
    ['unsent', 503, 'SEND_FAILED'],
  ])('answers the error "%s" with %d %s', async (name, status, code) => {
    expect(await answerOf(name)).toMatchObject({
      status,
      type: PROBLEM,
      body: { code, detail: ERRORS[name]?.message },
    });
  });

  it('answers 202 if Kafka has the event, so that clients do not send it again', async () => {
    const { status, type, body } = await answerOf('unknown');
    expect({ status, type }).toEqual({ status: 202, type: 'application/json; charset=utf-8' });
    expect(body).toEqual({ events: [AT], status: 'unknown' });
  });

  it('leaves other errors to Nest, which does not show them', async () => {
    const { status, body } = await answerOf('ours');
    expect({ status, body }).toEqual({
      status: 500,
      body: { statusCode: 500, message: 'Internal server error' },
    });
  });

  it('works for one controller', async () => {
    const response = await fetch(`${local}/filtered/building`);
    expect(await response.json()).toMatchObject({ code: 'BOARD_BUILDING' });
  });

  it('cuts an answer that has begun', async () => {
    const response = await fetch(`${local}/filtered/late`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('answers a gateway as Nest answers exceptions of gateways', () => {
    const emit = jest.fn();
    const host = new ExecutionContextHost([{ emit }]);
    host.setType('ws');
    const error = new BoardBuildingError('arena');
    new RanklogExceptionFilter().catch(error, host);
    expect(emit.mock.calls).toEqual([['exception', { status: 'error', message: error.message }]]);
  });

  it('leaves errors of microservices to Nest', async () => {
    const filter = new RanklogExceptionFilter();
    const handler = new RpcExceptionsHandler();
    const func = filter.catch.bind(filter) as never;
    handler.setCustomFilters([{ func, exceptionMetatypes: [BoardBuildingError] }]);
    const host = new ExecutionContextHost([]);
    host.setType('rpc');
    const answer = lastValueFrom(handler.handle(new BoardBuildingError('arena'), host));
    await expect(answer).rejects.toMatchObject({ status: 'error' });
  });
});
