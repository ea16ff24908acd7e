import { Body, Controller, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { firstValueFrom, from, throwError, timeout } from 'rxjs';
import { resolveEvent, type BoardDefinition } from '#board';
import { BoardReader } from '#board-store';
import { ResultUnknownError, ScoreProducer } from '#client';
import { DEAD_LETTER_CODES, decodeText, type ScoreEvent, type Source } from '#contracts';
import { BoardParams, ScoreEventsBody, WriteQuery } from '../dto/requests.js';
import { ProblemError, RefusedEventError } from '../http/problems.js';
import { RequireScope, Write } from '../http/route.js';

const RANK_TIMEOUT_MS = 5_000;
const SEND_TIMEOUT_MS = 30_000;

/** Score events that wait for Kafka at once, also after their requests were answered; more are refused, as each takes memory. */
const MOST_IN_FLIGHT = 10_000;

/** Accepts score events for Kafka. Checks all of them against the live definition of the board before it sends the first. */
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
    if (wait === undefined) return { events: await this.#send(events, timeoutMs), deduplicated };
    const [event] = events;
    if (event === undefined || events.length > 1)
      throw new ProblemError('INVALID_REQUEST', 'wait=rank needs exactly one event');
    try {
      this.#checkLimit(1);
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

  /** @throws SendError, or ProblemError: OVERLOADED, or SEND_FAILED after the timeout; the producer goes on then */
  async #send(events: readonly ScoreEvent[], timeoutMs = SEND_TIMEOUT_MS): Promise<Source[]> {
    this.#checkLimit(events.length);
    const sent = this.producer.send(events);
    const late = () => {
      const detail = `Kafka has not acknowledged all events within ${timeoutMs} ms; it may have any of them, or get them later`;
      return throwError(() => new ProblemError('SEND_FAILED', detail));
    };
    return firstValueFrom(from(sent).pipe(timeout({ first: timeoutMs, with: late })));
  }

  /** @throws ProblemError OVERLOADED if so many events more would pass the limit */
  #checkLimit(events: number): void {
    const { inFlight } = this.producer;
    if (inFlight + events > MOST_IN_FLIGHT)
      throw new ProblemError(
        'OVERLOADED',
        `${inFlight} score events wait for Kafka, of at most ${MOST_IN_FLIGHT}; no event was sent; try again`,
      );
  }
}

/** @throws ProblemError for fields beside `events`, which would have no effect */
function eventsOf({ events, ...fields }: ScoreEventsBody): readonly object[] {
  if (events === undefined) return [fields];
  const [field] = Object.keys(fields);
  if (field === undefined) return events;
  const detail = `there is ${JSON.stringify(field)} beside "events"; move it into each event`;
  throw new ProblemError('INVALID_REQUEST', detail);
}

/** The event with its board. @throws RefusedEventError, ProblemError for the name of another board */
function checked(definition: BoardDefinition, body: object, index: number): ScoreEvent {
  const { board } = definition;
  const event = { ...body, board } as ScoreEvent;
  if ('board' in body && body.board !== board)
    throw new ProblemError(
      'INVALID_REQUEST',
      `event ${index} is for another board than "${board}"; leave out its board, or correct the path`,
    );
  const decoded = decodeText(JSON.stringify(event));
  const found = decoded.ok ? resolveEvent(definition, decoded.event, Date.now()) : decoded;
  if (found.ok) return event;
  const { code, detail } = found;
  throw new RefusedEventError({ index, code, wayOut: DEAD_LETTER_CODES[code] }, detail);
}
