import { Body, Controller, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { formatTime } from '#board';
import { BoardReader, type BanEntry } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import { playerRecordProblem, quote, type PlayerRecord, type PlayerRecordKind } from '#contracts';
import { ProblemError } from '#problems';
import { BoardPlayerParams, NoQuery, ReasonBody, ReasonQuery } from '../dto/requests.js';
import { RequireScope, WriteByDelete, WriteByPut } from '../http/route.js';
import { acknowledged, requireRoom } from './send-limits.js';

/** Bans, unbans and erasures of players. Records have the name of the token as their author. */
@Controller('v1/boards/:board')
export class PlayerRecordsController {
  constructor(
    private readonly reader: BoardReader,
    private readonly producer: ScoreProducer,
    private readonly moderation: ModerationProducer,
  ) {}

  @RequireScope('operate')
  @WriteByPut('bans/:player', 'Ban a player')
  async ban(
    @Param() params: BoardPlayerParams,
    @Query() _: NoQuery,
    @Body() { reason }: ReasonBody,
    @Req() request: FastifyRequest,
  ) {
    const record = recordOf(params, reason, request);
    await this.#requireNotErased(record);
    return this.#send('banned', record);
  }

  @RequireScope('operate')
  @WriteByDelete('bans/:player', 'Unban a player')
  async unban(
    @Param() params: BoardPlayerParams,
    @Query() { reason }: ReasonQuery,
    @Req() request: FastifyRequest,
  ) {
    const record = recordOf(params, reason, request);
    await this.#requireBan(record);
    return this.#send('unbanned', record);
  }

  @RequireScope('operate')
  @WriteByPut('erasures/:player', 'Erase a player')
  async erase(
    @Param() params: BoardPlayerParams,
    @Query() _: NoQuery,
    @Body() { reason }: ReasonBody,
    @Req() request: FastifyRequest,
  ) {
    const record = recordOf(params, reason, request);
    await this.#requireNotErased(record);
    return this.#send('erased', record);
  }

  /**
   * Refuses an unban that would have no effect.
   * @throws ProblemError STALE, NOT_BANNED or ERASED
   */
  async #requireBan(record: PlayerRecord): Promise<void> {
    const { board, playerId } = record;
    const isStale = await this.reader.isStale(board); // first: the register fills until it is false
    const ban = await this.#requireNotErased(record);
    if (ban?.kind === 'banned') return;

    const who = `player ${JSON.stringify(playerId)}`;
    if (isStale)
      throw new ProblemError(
        'STALE',
        `Redis lacks records, maybe also a ban of ${who} on board "${board}"; nothing was sent. ` +
          'Try again once reads are not stale',
      );
    throw new ProblemError(
      'NOT_BANNED',
      `${who} is not banned on board "${board}"; nothing was sent. ` +
        'If the ban was sent just now, it is not applied yet: try again in a moment',
    );
  }

  /**
   * Refuses records on an erased player. A ban or unban would have no effect; an erasure would hide
   * the first one.
   * @throws ProblemError ERASED
   */
  async #requireNotErased({ board, playerId }: PlayerRecord): Promise<BanEntry | null> {
    const ban = await this.reader.ban(board, playerId);
    if (ban?.kind !== 'erased') return ban;
    throw new ProblemError(
      'ERASED',
      `player ${JSON.stringify(playerId)} is erased from board "${board}" since ` +
        `${formatTime(ban.time)}; nothing was sent. Only a void of the record of the erasure ` +
        `changes that: offset ${ban.offset} of partition ${ban.partition}`,
    );
  }

  async #send(kind: PlayerRecordKind, record: PlayerRecord) {
    requireRoom(this.producer, 1);
    const [place] = await acknowledged(this.moderation.send(kind, [record]));
    return place && { ...place, time: formatTime(place.time) };
  }
}

/**
 * The record of a request.
 * @throws ProblemError INVALID_REQUEST
 */
function recordOf(
  { board, player }: BoardPlayerParams,
  reason: string | undefined,
  { tokenName }: FastifyRequest,
): PlayerRecord {
  const record = {
    board,
    playerId: player,
    ...(reason !== undefined && { reason }),
    ...(tokenName !== undefined && { by: tokenName }),
  };
  const problem = playerRecordProblem(record);
  if (problem === undefined) return record;

  if (problem.startsWith('by '))
    throw new ProblemError(
      'INVALID_REQUEST',
      `the name of the token is written to the record as who decided it: ${problem}; rename ` +
        'the token',
    );
  const [field] = problem.split(' ');
  const given = record[field as keyof PlayerRecord] ?? '';
  throw new ProblemError(
    'INVALID_REQUEST',
    `${problem}, not ${quote(given)} of ${Buffer.byteLength(given)} bytes; nothing was sent`,
  );
}
