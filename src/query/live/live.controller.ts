import { Controller, Param, Query, Res, UseInterceptors } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { publishesView } from '#board';
import { BoardReader, requirePlayerId, selectedView } from '#board-store';
import { ProblemError } from '#problems';
import { RankChanges } from '../dto/responses.js';
import { BoardParams, NoQuery, BoardPlayerParams, StandingsEventsQuery } from '../dto/requests.js';
import { Events, Read, RequireScope } from '../http/route.js';
import { Answers } from '../reads/answers.js';
import { viewRequest } from '../reads/selection.js';
import { LiveStreams } from './live-streams.js';

@Controller('v1/boards/:board')
export class LiveController {
  constructor(
    private readonly streams: LiveStreams,
    private readonly reader: BoardReader,
  ) {}

  @RequireScope('read')
  @Events('standings/events', 'The first players of a view, live')
  async standings(
    @Param() { board }: BoardParams,
    @Query() query: StandingsEventsQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { view, window, where, at, limit = 10 } = viewRequest(query);
    const { definition } = await this.reader.board(board);
    const shown = selectedView(definition, { view, window, where, at }).view;
    if (!publishesView(definition, shown)) throw notPublished(board, ` of the view "${shown}"`);
    // Without further fields, as equal requests share reads.
    await this.streams.standings(reply, { board, view, window, where, at, limit });
  }

  @RequireScope('read')
  @Events('events', 'The rank changes of a board, live')
  async board(
    @Param() { board }: BoardParams,
    @Query() _: NoQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.#check(board);
    await this.streams.rankChanges(reply, board);
  }

  @RequireScope('read')
  @Events('players/:player/events', 'The rank changes of a player, live')
  async player(
    @Param() { board, player }: BoardPlayerParams,
    @Query() _: NoQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    requirePlayerId(player);
    await this.#check(board);
    await this.streams.rankChanges(reply, board, player);
  }

  @RequireScope('read')
  @Read('players/:player/changes', RankChanges, 'The last rank changes of a player')
  @UseInterceptors(Answers)
  async changes(@Param() { board, player: playerId }: BoardPlayerParams, @Query() _: NoQuery) {
    requirePlayerId(playerId);
    await this.#check(board);
    return { board, playerId, ...(await this.streams.heldChanges(board, playerId)) };
  }

  /**
   * Refuses a board without rank changes.
   * @throws ProblemError NOT_PUBLISHED, and the errors of BoardReader.board
   */
  async #check(board: string): Promise<void> {
    const { definition } = await this.reader.board(board);
    const { rankChanges, windows, dimensions } = definition.publish;
    if (rankChanges === 'none' || windows?.length === 0 || dimensions?.length === 0)
      throw notPublished(board, '');
  }
}

function notPublished(board: string, what: string): ProblemError {
  const detail =
    `board "${board}" publishes no rank changes${what}, so there is nothing to show; change ` +
    '`publish` in the boards file, or read the standings';
  return new ProblemError('NOT_PUBLISHED', detail);
}
