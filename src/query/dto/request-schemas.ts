import Type, { type Static } from 'typebox';

const { Optional } = Type;
const text = (description: string, rules = {}) => Optional(Type.String({ description, ...rules }));
const texts = (description: string) =>
  Optional(Type.Record(Type.String(), Type.String(), { description }));
const flag = (description: string) => Optional(Type.Boolean({ description }));
const whole = (description: string, minimum: number, maximum: number) =>
  Optional(Type.Integer({ description, minimum, maximum }));

const MOST = 1_000;

const SELECTION = {
  view: text('The view by its name, such as `week:2026-W47 region=eu`.'),
  window: text(
    'The window: `week`, `week:previous`, `week:2026-W47`, `season:NAME`. By default `all`.',
  ),
  at: text('The time that decides which window is current and which is previous; default: now.', {
    format: 'date-time',
  }),
  where: texts('A value for each dimension; in a URL, `where.region=eu`.'),
};
const DENSE = { dense: flag('Whether to count dense ranks (1 2 2 3), too.') };
const PLAYER = {
  ...DENSE,
  gaps: flag('Whether to add the players just in front and behind, and the gaps to them.'),
};
const RANGE = {
  min: text('The lowest score of the first column.'),
  max: text('The highest score of the first column.'),
};
const AFTER = { after: text('The cursor `next` of the page before; it names the view.') };

const closed = <Own extends Type.TProperties>(own: Own) =>
  Type.Object(own, { additionalProperties: false });

/** A query for a view: own parameters, and the selection of a view. */
function viewQuery<Own extends Type.TProperties>(own: Own) {
  return closed({ ...own, ...SELECTION });
}

/** The parameters in the URL of each request, as query-string.ts reads them. */
export const QUERIES = {
  none: closed({}),
  views: closed({ after: text('The cursor `next` of the page before.') }),
  standings: viewQuery({
    limit: whole('How many players; default: 100.', 0, MOST),
    from: whole('The rank of the first player; default: 1.', 1, 2 ** 53 - 1),
    ...AFTER,
    ...RANGE,
    ...DENSE,
  }),
  standingsEvents: viewQuery({ limit: whole('How many players; default: 10.', 1, 100) }),
  export: closed({
    format: Optional(Type.Enum(['ndjson', 'csv'], { description: 'Default: `ndjson`.' })),
    view: Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: MOST })], {
        description: 'Only this view by its name, or these.',
      }),
    ),
  }),
  write: closed({
    wait: Optional(Type.Enum(['rank'], { description: 'Wait for the result of one event.' })),
    timeout: whole('How long to wait, in ms; default: 5000 with `wait`, else 30000.', 1, 30_000),
  }),
  player: viewQuery(PLAYER),
  around: viewQuery({
    above: whole('How many players in front; default: 5.', 0, MOST),
    below: whole('How many players behind; default: 5.', 0, MOST),
    ...DENSE,
  }),
  search: viewQuery({
    search: Type.String({ description: 'A part of a player id; ignores the case of a-z.' }),
    ...AFTER,
  }),
  rank: viewQuery({
    score: text('The score, for a board with one column.'),
    scores: texts('A value for each column, for a board with several: `score.wins=3`.'),
  }),
  at: viewQuery({
    rank: whole('The rank.', 1, 2 ** 53 - 1),
    percent: Optional(
      Type.Number({
        description: 'The share of the best players, in percent.',
        exclusiveMinimum: 0,
        maximum: 100,
      }),
    ),
    ...DENSE,
  }),
  count: viewQuery(RANGE),
  histogram: viewQuery({ buckets: whole('How many buckets; default: 20.', 1, MOST), ...RANGE }),
};

export const BODIES = {
  scoreEvents: Type.Object(
    { events: Optional(Type.Array(Type.Object({}), { minItems: 1, maxItems: MOST })) },
    { description: 'One score event, or several as `events`.' },
  ),
  players: closed({
    playerIds: Type.Array(Type.String(), { minItems: 1, maxItems: MOST }),
    ...SELECTION,
  }),
  standingsOf: closed({
    requests: Type.Array(closed({ board: Type.String(), ...SELECTION, ...PLAYER }), {
      maxItems: 100,
    }),
  }),
};

export type QueryOf<Name extends keyof typeof QUERIES> = Static<(typeof QUERIES)[Name]>;
export type BodyOf<Name extends keyof typeof BODIES> = Static<(typeof BODIES)[Name]>;
