import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, HttpCode, Post, UsePipes, ValidationPipe } from '@nestjs/common';
import { EventPattern, Payload, Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { PeriodResultDto, RankChangeDto, ScoreEventDto } from './dto.js';

const got: unknown[] = [];

@Controller()
@UsePipes(new ValidationPipe({ transform: true }))
class Scores {
  @Post('scores')
  @HttpCode(204)
  post(@Body() event: ScoreEventDto): void {
    got.push(event);
  }

  @EventPattern('scores')
  event(@Payload() event: ScoreEventDto): void {
    got.push(event);
  }

  @EventPattern('rank-changes')
  changed(@Payload() change: RankChangeDto): void {
    got.push(change);
  }

  @EventPattern('period-results')
  closed(@Payload() result: PeriodResultDto): void {
    got.push(result);
  }
}

/** Gives payloads to handlers, as the transport of Kafka does. */
class TestTransport extends Server implements CustomTransportStrategy {
  readonly errors: unknown[] = [];

  listen(callback: () => void): void {
    callback();
  }

  close(): void {
    this.messageHandlers.clear();
  }

  on(): never {
    throw new Error('not used');
  }

  unwrap(): never {
    throw new Error('not used');
  }

  async deliver(pattern: string, payload: unknown): Promise<void> {
    await this.handleEvent(pattern, { pattern, data: payload }, {} as never);
  }
}

let app: NestFastifyApplication;
const transport = new TestTransport();

beforeAll(async () => {
  const module = await Test.createTestingModule({ controllers: [Scores] }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  app.useLogger(false);
  app.connectMicroservice({ strategy: transport });
  await app.startAllMicroservices();
  await app.init();
});
beforeEach(() => {
  got.length = 0;
});
afterAll(() => app.close());

const EVENT = { board: 'arena', playerId: 'ada', deltas: { points: '3', goals: 2 } };
const WRONG = { ...EVENT, deltas: { points: '1e3' } };
const CHANGE = {
  board: 'arena',
  generation: '1763629200000000-0a1b',
  playerId: 'ada',
  source: { topic: 'ranklog.score-events', partition: 0, offset: 7 },
  occurredAt: '2026-11-20T09:00:00Z',
  changes: [
    { view: 'all', version: 1, before: null, after: { rank: 1, columns: { points: '3' } } },
  ],
};

const RESULT = {
  board: 'arena',
  generation: '1763629200000000-0a1b',
  view: 'week:2026-W47',
  window: 'week:2026-W47',
  start: '2026-11-16T00:00:00.000Z',
  end: '2026-11-23T00:00:00.000Z',
  revision: 1,
  size: 1,
  results: [{ playerId: 'ada', rank: 1, competitionRank: 1, columns: { points: '3' } }],
};

describe('a controller of a service', () => {
  const post = (payload: object) => app.inject({ method: 'POST', url: '/scores', payload });

  it('gets a score event as a DTO', async () => {
    expect((await post(EVENT)).statusCode).toBe(204);
    expect(got).toEqual([EVENT]);
    expect(got[0]).toBeInstanceOf(ScoreEventDto);
  });

  it.each([
    [WRONG, /^deltas must be an object with values for 1 to 64 inputs/],
    [{ ...EVENT, delta: 1 }, /^the event must have either delta or deltas$/],
    [{ ...EVENT, playerId: undefined }, /^playerId must be a string of 1 to 128 bytes/],
  ])('refuses %j', async (event, message) => {
    const answer = await post(event);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ message: [expect.stringMatching(message)] });
    expect(got).toEqual([]);
  });
});

describe('a handler of events of a service', () => {
  it('gets score events, rank changes and period results as DTOs', async () => {
    await transport.deliver('scores', EVENT);
    await transport.deliver('rank-changes', CHANGE);
    await transport.deliver('period-results', RESULT);
    expect(got).toEqual([EVENT, CHANGE, RESULT]);
    expect(got[1]).toBeInstanceOf(RankChangeDto);
    expect(got[2]).toBeInstanceOf(PeriodResultDto);
  });

  it('does not get wrong ones', async () => {
    await transport.deliver('scores', WRONG);
    await transport.deliver('scores', null);
    await transport.deliver('rank-changes', { ...CHANGE, changes: [] });
    await transport.deliver('period-results', { ...RESULT, revision: 0 });
    expect(got).toEqual([]);
  });
});
