import { Body, Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { BoardReader, InvalidReadError, type RankOrShare } from '#board-store';
import { BODIES, QUERIES, type BodyOf, type QueryOf } from '../dto/request-schemas.js';
import { Read, ReadByPost, RequireScope, type PlayerPath } from '../http/route.js';
import { Answers } from './answers.js';
import { momentOf, viewRequest } from './selection.js';

/** The reads of one view: each is a method of BoardReader. */
@Controller('v1/boards/:board')
@UseInterceptors(Answers)
export class StandingsController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @Read('standings', 'Standings', 'A page of a view', QUERIES.standings)
  standings(@Param('board') board: string, @Query() query: QueryOf<'standings'>) {
    return this.reader.standings(board, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players', 'Search', 'Players whose id contains a text', QUERIES.search)
  search(@Param('board') board: string, @Query() query: QueryOf<'search'>) {
    return this.reader.search(board, query.search, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players/:player', 'PlayerStanding', 'A player', QUERIES.player)
  player(@Param() { board, player }: PlayerPath, @Query() query: QueryOf<'player'>) {
    return this.reader.player(board, player, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players/:player/around', 'Standings', 'The players around a player', QUERIES.around)
  around(@Param() { board, player }: PlayerPath, @Query() query: QueryOf<'around'>) {
    return this.reader.around(board, player, viewRequest(query));
  }

  @RequireScope('read')
  @ReadByPost('players::batch', 'SelectedStandings', 'Several players by id', BODIES.players)
  players(@Param('board') board: string, @Body() body: BodyOf<'players'>) {
    return this.reader.players(board, body.playerIds, { ...body, at: momentOf(body.at) });
  }

  @RequireScope('read')
  @Read('rank', 'RankOfScore', 'The rank that a score would have', QUERIES.rank)
  rank(@Param('board') board: string, @Query() query: QueryOf<'rank'>) {
    const { score, scores, ...selection } = query;
    if (score !== undefined && scores !== undefined)
      throw new InvalidReadError('score', 'give either score or score.COLUMN');
    return this.reader.rankOf(board, score ?? scores ?? {}, viewRequest(selection));
  }

  @RequireScope('read')
  @Read('at', 'Standings', 'The player at a rank or percentage', QUERIES.at)
  at(@Param('board') board: string, @Query() query: QueryOf<'at'>) {
    return this.reader.at(board, rankOrShareOf(query), viewRequest(query));
  }

  @RequireScope('read')
  @Read('count', 'Count', 'The number of players', QUERIES.count)
  async count(@Param('board') board: string, @Query() query: QueryOf<'count'>) {
    const page = await this.reader.standings(board, { ...viewRequest(query), limit: 0 });
    const { view, version, stale, size, count = size } = page;
    return { board, view, version, stale, size, count };
  }

  @RequireScope('read')
  @Read('histogram', 'Histogram', 'How many players have which scores', QUERIES.histogram)
  histogram(@Param('board') board: string, @Query() query: QueryOf<'histogram'>) {
    return this.reader.histogram(board, viewRequest(query));
  }
}

@Controller('v1/players/:player')
@UseInterceptors(Answers)
export class PlayersController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @ReadByPost(
    'standings',
    'PlayerStandings',
    'A player on several boards or views',
    BODIES.standingsOf,
  )
  async standings(@Param('player') playerId: string, @Body() body: BodyOf<'standingsOf'>) {
    const requests = body.requests.map(({ at, ...request }) => ({ ...request, at: momentOf(at) }));
    return { playerId, standings: await this.reader.playerOn(playerId, requests) };
  }
}

/** @throws InvalidReadError unless the query has exactly one of them */
function rankOrShareOf({ rank, percent }: QueryOf<'at'>): RankOrShare {
  if (rank !== undefined && percent === undefined) return { rank };
  if (percent !== undefined && rank === undefined) return { percent };
  throw new InvalidReadError('rank', 'give either rank or percent');
}
