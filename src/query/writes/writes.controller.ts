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

/** Checks score events against the live definition of the board, then sends them to Kafka. */
@Controller('v1/boards/:board')
export class WritesController {
  constructor(
    private readonly reader: BoardReader,
    private readonly producer: ScoreProducer,
  ) {}

  @RequireScope('write')
  @Write('events', 'Send score events')
  /** Sends nothing if the board would refuse one of the events. */
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
      const waitMs = timeoutMs ?? RANK_TIMEOUT_MS;
      const outcome = await this.producer.sendAndWait(event, { timeoutMs: waitMs });
      void reply.code(200);
      return outcome;
    } catch (error) {
      if (!(error instanceof ResultUnknownError)) throw error;

      // Without an offset, Kafka has not acknowledged the event
      if (error.at.offset === undefined) throw new ProblemError('SEND_FAILED', error.message);
      return { events: [error.at], deduplicated, status: 'unknown' };
    }
  }
}

/**
 * The events of a body: its list `events`, or the body itself as the only event.
 * @throws ProblemError if there are other fields beside `events`: they would have no effect
 */
function eventsOf({ events, ...fields }: ScoreEventsBody): readonly object[] {
  if (events === undefined) return [fields];
  const [field] = Object.keys(fields);
  if (field === undefined) return events;

  const detail = `there is ${JSON.stringify(field)} beside "events"; move it into each event`;
  throw new ProblemError('INVALID_REQUEST', detail);
}

/**
 * The event with the name of the board in it.
 * @throws RefusedEventError if the board would refuse the event; ProblemError if it names another
 * board
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
