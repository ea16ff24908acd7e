import Type, { type TProperties } from 'typebox';
import { PROBLEMS } from './problem-codes.js';

const { Array: List, Boolean: Flag, Integer, Number: Decimal, Optional, String: Text } = Type;

const ref = (name: string) => Type.Unsafe({ $ref: `${name}#` });
const nullable = (name: string) => Type.Unsafe({ anyOf: [{ $ref: `${name}#` }, { type: 'null' }] });
const named = ($id: string, properties: TProperties, options = {}) =>
  Type.Object(properties, { $id, additionalProperties: false, ...options });
const open = (description: string) => ({ additionalProperties: true, description });

const COLUMNS = Type.Record(Text(), Text(), { description: 'Exact decimals by column.' });

/** An answer from before Redis stopped answering has `stale` and `age`. */
const AGE = Optional(
  Integer({ description: 'Seconds since Redis was read, while Redis does not answer.' }),
);
const STALE = Flag({ description: 'Whether ranks may be wrong: Redis lost events, or is away.' });
const CURRENCY = { stale: Optional(STALE), age: AGE };

const TIME = Type.Unsafe({ type: ['string', 'null'], format: 'date-time' });
const rows = (properties: TProperties) => List(Type.Object(properties));

const HEAD = {
  board: Text(),
  view: Text(),
  version: Integer({ description: 'Grows with every change of the view.' }),
  stale: STALE,
  size: Integer({ description: 'The number of players in the view.' }),
  age: AGE,
};
const STANDING = {
  rank: Integer(),
  competitionRank: Integer({ description: '1 2 2 4' }),
  denseRank: Optional(Integer({ description: '1 2 2 3; missing if it was not counted.' })),
  aheadOf: Integer({ description: 'The number of players with worse columns.' }),
  percentile: Decimal({ description: '`aheadOf` in percent, cut to two decimals.' }),
  playerId: Text(),
  columns: COLUMNS,
  reachedAt: Text({ format: 'date-time' }),
};
const { rank, competitionRank, playerId, columns, reachedAt } = STANDING;
const ENTRIES = { entries: List(ref('Standing')) };
const NEXT = { next: Optional(Text({ description: 'The cursor of the next page.' })) };

/** The bodies that the OpenAPI document describes, by their names there. */
export const ANSWERS = [
  named('Problem', {
    type: Text(),
    title: Text(),
    status: Integer(),
    detail: Text({ description: 'What failed, with which value, and what to do.' }),
    code: Type.Enum(Object.keys(PROBLEMS)),
    event: Optional(
      Type.Object(
        { index: Integer(), code: Text(), wayOut: Text() },
        { description: 'The refused event.' },
      ),
    ),
    suggestion: Optional(Text({ description: 'A name that was probably meant.' })),
  }),
  named(
    'Board',
    { board: Text(), ...CURRENCY },
    open('A board and its definition, in the fields of a boards file.'),
  ),
  named('Boards', { boards: List(ref('Board')), ...CURRENCY }),
  named('Views', {
    board: Text(),
    stale: STALE,
    age: AGE,
    views: rows({ view: Text(), size: Integer(), version: Integer(), expiresAt: TIME }),
    ...NEXT,
  }),
  named('Standing', STANDING),
  named('ExportedPlayer', { view: Text(), rank, competitionRank, playerId, columns, reachedAt }),
  named('Neighbour', { ...STANDING, gap: COLUMNS }),
  named('Selected', { ...STANDING, position: Integer() }),
  named('Standings', { ...HEAD, ...ENTRIES, count: Optional(Integer()), ...NEXT }),
  named('Search', { ...HEAD, ...ENTRIES, ...NEXT }),
  named('PlayerStanding', {
    ...HEAD,
    playerId: Text(),
    standing: nullable('Standing'),
    above: Optional(nullable('Neighbour')),
    below: Optional(nullable('Neighbour')),
  }),
  named('PlayerStandings', { playerId: Text(), standings: List(ref('PlayerStanding')) }),
  named('SelectedStandings', { ...HEAD, entries: List(ref('Selected')), missing: List(Text()) }),
  named('RankOfScore', { ...HEAD, rank: Integer(), tied: Integer() }),
  named('Count', { ...HEAD, count: Integer() }),
  named('Histogram', {
    ...HEAD,
    buckets: rows({ min: Text(), max: Text(), count: Integer() }),
  }),
  named('RankChanges', {
    ...{ board: Text(), playerId: Text(), ...CURRENCY },
    heldSince: TIME,
    changes: List(Type.Object({}, open('A rank change as in Kafka.'))),
  }),
  named('Status', CURRENCY, open('The fields of `ranklog status --json`.')),
  named('Accepted', {
    events: rows({ topic: Text(), partition: Integer(), offset: Integer() }),
    deduplicated: Flag({ description: 'Whether the board counts an `eventId` once.' }),
    status: Optional(Text({ description: '`unknown`: no result within `timeout`.' })),
  }),
  named(
    'Outcome',
    {
      status: Type.Enum(['ranked', 'deadLetter', 'unchanged', 'unpublished']),
      places: Optional(List(ref('PlayerStanding'))),
    },
    open(
      '`change` or `letter` as in Kafka. `unchanged` and `unpublished` have the `places` of the player in the views of the event, read after it was applied. They are missing if Redis did not answer within a second, or within `timeout` if that is shorter, and if too many events wait for their places.',
    ),
  ),
];
