import { Body, Controller, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { resolveEvent, type BoardDefinition } from '#board';
import { BoardReader } from '#board-store';
import { ResultUnknownError, ScoreProducer } from '#client';
import { DEAD_LETTER_CODES, decodeText, type DeadLetterCode, type ScoreEvent } from '#contracts';
import { ProblemError, RefusedEventError } from '../infra/problems.js';
import { BODIES, QUERIES, type BodyOf, type QueryOf } from '../standings/request-schemas.js';
import { Write } from '../standings/route.js';

const DEFAULT_TIMEOUT_MS = 5_000;

/** Accepts score events for Kafka. Checks all of them against the live definition of the board before it sends the first. */
@Controller('v1/boards/:board')
export class WritesController {
  constructor(
    private readonly reader: BoardReader,
    private readonly producer: ScoreProducer,
  ) {}

  @Write('events', 'Send score events', BODIES.scoreEvents, QUERIES.write)
  async send(
    @Param('board') board: string,
    @Query() { wait, timeout = DEFAULT_TIMEOUT_MS }: QueryOf<'write'>,
    @Body() body: BodyOf<'scoreEvents'>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { definition } = await this.reader.board(board);
    const events = (body.events ?? [body]).map((event, index) => checked(definition, event, index));
    const deduplicated = definition.deduplicateMs !== undefined;
    void reply.code(202);
    if (wait === undefined) return { events: await this.producer.send(events), deduplicated };
    const [event] = events;
    if (event === undefined || events.length > 1)
      throw new ProblemError('INVALID_REQUEST', 'wait=rank needs exactly one event');
    try {
      const outcome = await this.producer.sendAndWait(event, { timeoutMs: timeout });
      void reply.code(200);
      return outcome;
    } catch (error) {
      if (!(error instanceof ResultUnknownError)) throw error;
      if (error.at.offset === undefined) throw new ProblemError('SEND_FAILED', error.message);
      return { events: [error.at], deduplicated, status: 'unknown' };
    }
  }
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
  if (!decoded.ok) throw refused(index, decoded.code, decoded.detail);
  const resolved = resolveEvent(definition, decoded.event, Date.now());
  if (!resolved.ok) throw refused(index, resolved.rejection.code, resolved.rejection.detail);
  return event;
}

function refused(index: number, code: DeadLetterCode, detail: string): RefusedEventError {
  return new RefusedEventError({ index, code, wayOut: DEAD_LETTER_CODES[code] }, detail);
}
