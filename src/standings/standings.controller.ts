import { Body, Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { BoardReader, InvalidReadError, type RankOrShare } from '#board-store';
import { Answers } from './answers.js';
import { BODIES, QUERIES, type BodyOf, type QueryOf } from './request-schemas.js';
import { Read, ReadByPost } from './route.js';
import { momentOf, readSelected, type Selected } from './selection.js';

/** The reads of one view: each is a method of BoardReader. */
@Controller('v1/boards/:board')
@UseInterceptors(Answers)
export class StandingsController {
  constructor(private readonly reader: BoardReader) {}

  @Read('standings', 'Standings', 'A page of a view', QUERIES.standings)
  standings(@Param('board') board: string, @Query() query: QueryOf<'standings'>) {
    const { limit, from, after, dense } = query;
    return this.#read(board, 'standings', query, ({ selection }) =>
      this.reader.standings(board, {
        ...{ ...selection, limit, from, after, dense },
        scores: rangeOf(query),
      }),
    );
  }

  @Read('players', 'Search', 'Players whose id contains a text', QUERIES.search)
  search(@Param('board') board: string, @Query() query: QueryOf<'search'>) {
    const { search, after } = query;
    return this.#read(board, 'search', query, ({ selection }) =>
      this.reader.search(board, search, { ...selection, after }),
    );
  }

  @Read('players/:player', 'PlayerStanding', 'A player', QUERIES.player)
  player(
    @Param('board') board: string,
    @Param('player') player: string,
    @Query() query: QueryOf<'player'>,
  ) {
    const { dense, gaps } = query;
    return this.#read(board, 'player', query, ({ selection }) =>
      this.reader.player(board, player, { ...selection, dense, gaps }),
    );
  }

  @Read('players/:player/around', 'Standings', 'The players around a player', QUERIES.around)
  around(
    @Param('board') board: string,
    @Param('player') player: string,
    @Query() query: QueryOf<'around'>,
  ) {
    const { above, below, dense } = query;
    return this.#read(board, 'around', query, ({ selection }) =>
      this.reader.around(board, player, { ...selection, above, below, dense }),
    );
  }

  @ReadByPost('players::batch', 'SelectedStandings', 'Several players by id', BODIES.players)
  players(@Param('board') board: string, @Body() body: BodyOf<'players'>) {
    const { playerIds, at, ...selection } = body;
    return this.reader.players(board, playerIds, { ...selection, at: momentOf(at) });
  }

  @Read('rank', 'RankOfScore', 'The rank that a score would have', QUERIES.rank)
  rank(@Param('board') board: string, @Query() query: QueryOf<'rank'>) {
    return this.#read(board, 'rank', query, ({ selection, columns }) =>
      this.reader.rankOf(board, scoreOf(query, columns), selection),
    );
  }

  @Read('at', 'Standings', 'The player at a rank or percentage', QUERIES.at)
  at(@Param('board') board: string, @Query() query: QueryOf<'at'>) {
    const { dense } = query;
    return this.#read(board, 'at', query, ({ selection }) =>
      this.reader.at(board, rankOrShareOf(query), { ...selection, dense }),
    );
  }

  @Read('count', 'Count', 'The number of players', QUERIES.count)
  count(@Param('board') board: string, @Query() query: QueryOf<'count'>) {
    return this.#read(board, 'count', query, async ({ selection }) => {
      const request = { ...selection, scores: rangeOf(query), limit: 0 };
      const page = await this.reader.standings(board, request);
      const { view, version, stale, size, count = size } = page;
      return { board, view, version, stale, size, count };
    });
  }

  @Read('histogram', 'Histogram', 'How many players have which scores', QUERIES.histogram)
  histogram(@Param('board') board: string, @Query() query: QueryOf<'histogram'>) {
    const { buckets } = query;
    return this.#read(board, 'histogram', query, ({ selection }) =>
      this.reader.histogram(board, { ...selection, buckets, scores: rangeOf(query) }),
    );
  }

  #read<T>(
    board: string,
    name: keyof typeof QUERIES,
    query: object,
    read: (selected: Selected) => Promise<T>,
  ): Promise<T> {
    return readSelected({ reader: this.reader, board, name }, { ...query }, read);
  }
}

/** One player on several boards or views. */
@Controller('v1/players/:player')
@UseInterceptors(Answers)
export class PlayersController {
  constructor(private readonly reader: BoardReader) {}

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

/** undefined without bounds, as the reader counts only the players of a range that was asked for. */
function rangeOf({ min, max }: { min?: string; max?: string }) {
  return min === undefined && max === undefined ? undefined : { min, max };
}

/** @throws InvalidReadError if the query has both forms */
function scoreOf({ score }: QueryOf<'rank'>, columns: Selected['columns']) {
  if (score === undefined || Object.keys(columns).length === 0) return score ?? columns;
  throw new InvalidReadError('score', 'give either score or score.COLUMN');
}

/** @throws InvalidReadError unless the query has exactly one of them */
function rankOrShareOf({ rank, percent }: QueryOf<'at'>): RankOrShare {
  if (rank !== undefined && percent === undefined) return { rank };
  if (percent !== undefined && rank === undefined) return { percent };
  throw new InvalidReadError('rank', 'give either rank or percent');
}
