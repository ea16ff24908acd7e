import { Controller, Param, Query, Res, UseInterceptors } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { publishesView } from '#board';
import { BoardReader, requirePlayerId, selectedView } from '#board-store';
import { QUERIES, type QueryOf } from '../dto/request-schemas.js';
import { ProblemError } from '../http/problems.js';
import { Events, Read, RequireScope, type PlayerPath } from '../http/route.js';
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
  @Events('standings/events', 'The first players of a view, live', QUERIES.standingsEvents)
  async standings(
    @Param('board') board: string,
    @Query() query: QueryOf<'standingsEvents'>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { view, window, where, at, limit = 10 } = viewRequest(query);
    const { definition } = await this.reader.board(board);
    const shown = selectedView(definition, { view, window, where, at }).view;
    if (!publishesView(definition, shown)) throw notPublished(board, ` of the view "${shown}"`);
    await this.streams.standings(reply, { board, view, window, where, at, limit }); // equal ones share reads
  }

  @RequireScope('read')
  @Events('events', 'The rank changes of a board, live', QUERIES.none)
  async board(@Param('board') board: string, @Res() reply: FastifyReply): Promise<void> {
    await this.#check(board);
    await this.streams.rankChanges(reply, board);
  }

  @RequireScope('read')
  @Events('players/:player/events', 'The rank changes of a player, live', QUERIES.none)
  async player(@Param() { board, player }: PlayerPath, @Res() reply: FastifyReply): Promise<void> {
    requirePlayerId(player);
    await this.#check(board);
    await this.streams.rankChanges(reply, board, player);
  }

  @RequireScope('read')
  @Read('players/:player/changes', 'RankChanges', 'The last rank changes of a player', QUERIES.none)
  @UseInterceptors(Answers)
  async changes(@Param() { board, player: playerId }: PlayerPath) {
    requirePlayerId(playerId);
    await this.#check(board);
    return { board, playerId, ...(await this.streams.heldChanges(board, playerId)) };
  }

  /** @throws ProblemError NOT_PUBLISHED, and what BoardReader.board throws */
  async #check(board: string): Promise<void> {
    const { definition } = await this.reader.board(board);
    const { rankChanges, windows, dimensions } = definition.publish;
    if (rankChanges === 'none' || windows?.length === 0 || dimensions?.length === 0)
      throw notPublished(board, '');
  }
}

function notPublished(board: string, what: string): ProblemError {
  const detail = `board "${board}" publishes no rank changes${what}, so there is nothing to show; change \`publish\` in the boards file, or read the standings`;
  return new ProblemError('NOT_PUBLISHED', detail);
}
