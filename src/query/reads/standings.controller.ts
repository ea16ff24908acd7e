import { Body, Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { BoardReader, InvalidReadError, type RankOrShare } from '#board-store';
import {
  Count,
  Histogram,
  PlayerStanding,
  PlayerStandings,
  RankOfScore,
  Search,
  SelectedStandings,
  Standings,
} from '../dto/responses.js';
import {
  AroundQuery,
  AtQuery,
  BoardParams,
  CountQuery,
  HistogramQuery,
  NoQuery,
  PlayerParams,
  BoardPlayerParams,
  PlayerQuery,
  PlayersBody,
  PlayerStandingsBody,
  RankQuery,
  SearchQuery,
  StandingsQuery,
} from '../dto/requests.js';
import { Read, ReadByPost, RequireScope } from '../http/route.js';
import { Answers } from './answers.js';
import { momentOf, viewRequest } from './selection.js';

/** The reads of one view: each is a method of BoardReader. */
@Controller('v1/boards/:board')
@UseInterceptors(Answers)
export class StandingsController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @Read('standings', Standings, 'A page of a view')
  standings(@Param() { board }: BoardParams, @Query() query: StandingsQuery) {
    return this.reader.standings(board, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players', Search, 'Players whose id contains a text')
  search(@Param() { board }: BoardParams, @Query() query: SearchQuery) {
    return this.reader.search(board, query.search, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players/:player', PlayerStanding, 'A player')
  player(@Param() { board, player }: BoardPlayerParams, @Query() query: PlayerQuery) {
    return this.reader.player(board, player, viewRequest(query));
  }

  @RequireScope('read')
  @Read('players/:player/around', Standings, 'The players around a player')
  around(@Param() { board, player }: BoardPlayerParams, @Query() query: AroundQuery) {
    return this.reader.around(board, player, viewRequest(query));
  }

  @RequireScope('read')
  @ReadByPost('players::batch', SelectedStandings, 'Several players by id')
  players(@Param() { board }: BoardParams, @Query() _: NoQuery, @Body() body: PlayersBody) {
    return this.reader.players(board, body.playerIds, viewRequest(body));
  }

  @RequireScope('read')
  @Read('rank', RankOfScore, 'The rank that a score would have')
  rank(@Param() { board }: BoardParams, @Query() query: RankQuery) {
    const { score, scores, ...selection } = query;
    if (score !== undefined && scores !== undefined)
      throw new InvalidReadError('score', 'give either score or score.COLUMN');
    return this.reader.rankOf(board, score ?? scores ?? {}, viewRequest(selection));
  }

  @RequireScope('read')
  @Read('at', Standings, 'The player at a rank or percentage')
  at(@Param() { board }: BoardParams, @Query() query: AtQuery) {
    return this.reader.at(board, rankOrShareOf(query), viewRequest(query));
  }

  @RequireScope('read')
  @Read('count', Count, 'The number of players')
  async count(@Param() { board }: BoardParams, @Query() query: CountQuery) {
    const page = await this.reader.standings(board, { ...viewRequest(query), limit: 0 });
    const { view, version, stale, size, count = size } = page;
    return { board, view, version, stale, size, count };
  }

  @RequireScope('read')
  @Read('histogram', Histogram, 'How many players have which scores')
  histogram(@Param() { board }: BoardParams, @Query() query: HistogramQuery) {
    return this.reader.histogram(board, viewRequest(query));
  }
}

@Controller('v1/players/:player')
@UseInterceptors(Answers)
export class PlayersController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @ReadByPost('standings', PlayerStandings, 'A player on several boards or views')
  async standings(
    @Param() { player: playerId }: PlayerParams,
    @Query() _: NoQuery,
    @Body() body: PlayerStandingsBody,
  ) {
    const requests = body.requests.map(({ at, ...request }) => ({ ...request, at: momentOf(at) }));
    return { playerId, standings: await this.reader.playerOn(playerId, requests) };
  }
}

/** @throws InvalidReadError unless the query has exactly one of them */
function rankOrShareOf({ rank, percent }: AtQuery): RankOrShare {
  if (rank !== undefined && percent === undefined) return { rank };
  if (percent !== undefined && rank === undefined) return { percent };
  throw new InvalidReadError('rank', 'give either rank or percent');
}
