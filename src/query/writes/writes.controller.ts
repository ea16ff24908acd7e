import { Body, Controller, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { resolveEvent, type BoardDefinition } from '#board';
import { BoardReader } from '#board-store';
import { ResultUnknownError, ScoreProducer } from '#client';
import { decodeText, type ScoreEvent } from '#contracts';
import { ProblemError, RefusedEventError } from '#problems';
import { BoardParams, ScoreEventsBody, WriteQuery } from '../dto/requests.js';
import { RequireScope, Write } from '../http/route.js';
import { acknowledged, requireRoom } from './send-limits.js';

const RANK_TIMEOUT_MS = 5_000;

/** Sends score events to Kafka, after it has checked all of them against the live definition. */
@Controller('v1/boards/:board')
export class WritesController {
  constructor(
    private readonly reader: BoardReader,
    private readonly producer: ScoreProducer,
  ) {}

  @RequireScope('write')
  @Write('events', 'Send score events')
  async send(
    @Param() { board }: BoardParams,
    @Query() { wait, timeout: timeoutMs }: WriteQuery,
    @Body() body: ScoreEventsBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { definition } = await this.reader.board(board);
    const events = eventsOf(body).map((event, index) => checked(definition, event, index));
    const deduplicated = definition.deduplicateMs !== undefined;
    void reply.code(202);

    if (wait === undefined) {
      requireRoom(this.producer, events.length);
      const places = await acknowledged(this.producer.send(events), timeoutMs);
      return { events: places, deduplicated };
    }

    const [event] = events;
    if (event === undefined || events.length > 1)
      throw new ProblemError('INVALID_REQUEST', 'wait=rank needs exactly one event');
    try {
      requireRoom(this.producer, 1);
      const outcome = await this.producer.sendAndWait(event, {
        timeoutMs: timeoutMs ?? RANK_TIMEOUT_MS,
      });
      void reply.code(200);
      return outcome;
    } catch (error) {
      if (!(error instanceof ResultUnknownError)) throw error;
      if (error.at.offset === undefined) throw new ProblemError('SEND_FAILED', error.message);
      return { events: [error.at], deduplicated, status: 'unknown' };
    }
  }
}

/**
 * The events of a body: its `events`, or the body itself.
 * @throws ProblemError for fields beside `events`, which would have no effect
 */
function eventsOf({ events, ...fields }: ScoreEventsBody): readonly object[] {
  if (events === undefined) return [fields];
  const [field] = Object.keys(fields);
  if (field === undefined) return events;

  const detail = `there is ${JSON.stringify(field)} beside "events"; move it into each event`;
  throw new ProblemError('INVALID_REQUEST', detail);
}

/**
 * The event with its board.
 * @throws RefusedEventError, ProblemError for the name of another board
 */
function checked(definition: BoardDefinition, body: object, index: number): ScoreEvent {
  const { board } = definition;
  const event = { ...body, board } as ScoreEvent;
  if ('board' in body && body.board !== board)
    throw new ProblemError(
      'INVALID_REQUEST',
      `event ${index} is for another board than "${board}"; leave out its board, or correct ` +
        'the path',
    );

  const decoded = decodeText(JSON.stringify(event));
  const resolved = decoded.ok ? resolveEvent(definition, decoded.event, Date.now()) : decoded;
  if (resolved.ok) return event;
  throw new RefusedEventError(index, resolved);
}
