// To add a read or a parameter: add a class or field here, and the answer to responses.ts. Their
// decorators (fields.ts) check requests and make the OpenAPI document: run `npm run api-docs`. Read
// it in src/query/reads/selection.ts, and in a controller of reads, live or status with
// `@RequireScope`. It takes effect in libs/board-store/read (read-requests.ts, paged-reads.ts,
// board-reader.ts). Test it in test/query/reads/reads.test.ts, and describe it in
// docs/reference/http.md.

import {
  AnyFields,
  DtoList,
  Flag,
  ObjectList,
  OneOf,
  Percent,
  Text,
  TextList,
  TextMap,
  Time,
  Whole,
} from './fields.js';

const MOST = 1_000;
/** The most requests of a body: each is a read. */
export const MOST_REQUESTS = 100;
const MOST_RANK = 2 ** 53 - 1;

const AFTER = 'The cursor `next` of the page before; it names the view.';
const DENSE = 'Whether to count dense ranks (1 2 2 3), too.';
const GAPS = 'Whether to add the players just in front and behind, and the gaps to them.';
const MIN = 'The lowest score of the first column.';
const MAX = 'The highest score of the first column.';

export class BoardParams {
  @Text('The name of the board.', { required: true }) board: string;
}

export class PlayerParams {
  @Text('The id of the player.', { required: true }) player: string;
}

export class BoardPlayerParams extends BoardParams {
  @Text('The id of the player.', { required: true }) player: string;
}

/**
 * The query of a handler without parameters: RequestPipe refuses all parameters. Without a
 * `@Query`, Nest would ignore them.
 */
export class NoQuery {}

export class ViewsQuery {
  @Text('The cursor `next` of the page before.') after?: string;
}

export class PeriodsQuery {
  @Whole('How many periods, those with the latest ends; default: 100.', 1, MOST) limit?: number;
}

export class BansQuery {
  @Whole('How many players, the latest first; default: 100.', 1, MOST) limit?: number;
  @Text('The cursor `next` of the page before.') after?: string;
}

/** Selects a view of a board. */
export class ViewQuery {
  @Text('The view by its name, such as `week:2026-W47 region=eu`.') view?: string;

  @Text('The window: `week`, `week:previous`, `week:2026-W47`, `season:NAME`. By default `all`.')
  window?: string;

  @Time('The time that decides which window is current and which is previous; default: now.')
  at?: string;

  @TextMap('A value for each dimension; in a URL, `where.region=eu`.')
  where?: Record<string, string>;
}

export class StandingsQuery extends ViewQuery {
  @Whole('How many players; default: 100.', 0, MOST) limit?: number;
  @Whole('The rank of the first player; default: 1.', 1, MOST_RANK) from?: number;
  @Text(AFTER) after?: string;
  @Text(MIN) min?: string;
  @Text(MAX) max?: string;
  @Flag(DENSE) dense?: boolean;
}

export class StandingsEventsQuery extends ViewQuery {
  @Whole('How many players; default: 10.', 1, 100) limit?: number;
}

export class ExportQuery {
  @OneOf('Default: `ndjson`.', ['ndjson', 'csv']) format?: 'ndjson' | 'csv';
  @TextList('Only these views, by their names.', 1, MOST) view?: string[];
}

export class PlayerQuery extends ViewQuery {
  @Flag(DENSE) dense?: boolean;
  @Flag(GAPS) gaps?: boolean;
}

export class AroundQuery extends ViewQuery {
  @Whole('How many players in front; default: 5.', 0, MOST) above?: number;
  @Whole('How many players behind; default: 5.', 0, MOST) below?: number;
  @Flag(DENSE) dense?: boolean;
}

export class SearchQuery extends ViewQuery {
  @Text('A part of a player id; ignores the case of a-z.', { required: true }) search: string;
  @Text(AFTER) after?: string;
}

export class RankQuery extends ViewQuery {
  @Text('The score, for a board with one column.') score?: string;

  @TextMap('A value for each column, for a board with several: `score.wins=3`.')
  scores?: Record<string, string>;
}

export class AtQuery extends ViewQuery {
  @Whole('The rank.', 1, MOST_RANK) rank?: number;
  @Percent('The share of the best players, in percent.') percent?: number;
  @Flag(DENSE) dense?: boolean;
}

export class CountQuery extends ViewQuery {
  @Text(MIN) min?: string;
  @Text(MAX) max?: string;
}

export class HistogramQuery extends CountQuery {
  @Whole('How many buckets; default: 20.', 1, MOST) buckets?: number;
}

export class PlayersBody extends ViewQuery {
  @TextList('The ids of the players.', 1, MOST, { required: true }) playerIds: string[];
}

/** A view of a player on a board. */
export class BoardRequest extends PlayerQuery {
  @Text('The name of the board.', { required: true }) board: string;
}

export class PlayerStandingsBody {
  @DtoList(() => BoardRequest, 'The boards or views.', MOST_REQUESTS)
  requests: BoardRequest[];
}

export class WriteQuery {
  @OneOf('Wait for the result of one event.', ['rank']) wait?: 'rank';

  @Whole('How long to wait, in ms; default: 5000 with `wait`, else 30000.', 1, 30_000)
  timeout?: number;
}

@AnyFields('One score event, or several as `events`.')
export class ScoreEventsBody {
  @ObjectList('Score events.', 1, MOST) events?: object[];
}

const REASON = 'Why: 1 to 256 bytes without control characters.';

export class ReasonQuery {
  @Text(REASON) reason?: string;
}

export class ReasonBody {
  @Text(REASON) reason?: string;
}
