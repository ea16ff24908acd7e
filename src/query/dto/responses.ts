import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { PROBLEMS } from '#problems';
import { AnyFields } from './fields.js';

/* The bodies of answers, for OpenAPI. These classes only describe; they have no instances. */

const Integer = (description?: string, options: { required?: boolean } = {}) =>
  ApiProperty({ type: 'integer', ...(description !== undefined && { description }), ...options });
const Columns = () =>
  ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Exact decimals by column.',
  });

const OPTIONAL = { required: false };
const TIME = { type: 'string', format: 'date-time' } as const;
const STALE = 'Whether ranks may be wrong: Redis lost events, or is away.';
const AGE = 'Seconds since Redis was read, while Redis does not answer.';
const NEXT = 'The cursor of the next page.';

class RefusedEvent {
  @Integer() index: number;
  @ApiProperty() code: string;
  @ApiProperty() wayOut: string;
}

export class Problem {
  @ApiProperty() type: string;
  @ApiProperty() title: string;
  @Integer() status: number;
  @ApiProperty({ description: 'What failed, with which value, and what to do.' }) detail: string;
  @ApiProperty({ enum: Object.keys(PROBLEMS) }) code: string;
  @ApiPropertyOptional({ description: 'The refused event.' })
  event?: RefusedEvent;
  @ApiPropertyOptional({ description: 'A name that was probably meant.' }) suggestion?: string;
}

/** An answer from before Redis stopped answering has both fields. */
class Currency {
  @ApiPropertyOptional({ description: STALE }) stale?: boolean;
  @Integer(AGE, OPTIONAL) age?: number;
}

@AnyFields('A board and its definition, in the fields of a boards file.')
export class Board extends Currency {
  @ApiProperty() board: string;
}

export class Boards extends Currency {
  @ApiProperty({ type: [Board] }) boards: Board[];
}

class View {
  @ApiProperty() view: string;
  @Integer() size: number;
  @Integer() version: number;
  @ApiProperty({ ...TIME, nullable: true }) expiresAt: string | null;
}

export class Views {
  @ApiProperty() board: string;
  @ApiProperty({ description: STALE }) stale: boolean;
  @Integer(AGE, OPTIONAL) age?: number;
  @ApiProperty({ type: [View] }) views: View[];
  @ApiPropertyOptional({ description: NEXT }) next?: string;
}

/** A closing window and its announcement. */
class Period {
  @ApiProperty({ description: 'Such as `week:2026-W47`.' }) window: string;
  @ApiProperty({ enum: ['open', 'waiting', 'review', 'announced', 'missed'] }) state: string;
  @Integer('The last complete announcement; 0 for none.') revision: number;
  @ApiProperty(TIME) start: string;
  @ApiProperty(TIME) end: string;
  @ApiProperty({ ...TIME, description: 'Scores that arrive later do not count.' })
  closesAt: string;
  @ApiProperty({ ...TIME, nullable: true, description: 'Null: a command ends the review.' })
  reviewEndsAt: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'In `waiting` and `review`.' })
  waitsFor: string | null;
}

export class Periods {
  @ApiProperty() board: string;
  @ApiProperty({ description: 'Whether periods may be missing: Redis lost events, or is away.' })
  stale: boolean;
  @Integer(AGE, OPTIONAL) age?: number;
  @ApiProperty({ type: [Period] }) periods: Period[];
}

class Ban {
  @ApiProperty() playerId: string;
  @ApiProperty({ enum: ['banned', 'unbanned', 'erased'] }) kind: string;
  @ApiProperty({ ...TIME, description: 'Of two records on a player, the later one counts.' })
  time: string;
  @Integer('Of the record in the score topic.') partition: number;
  @Integer() offset: number;
  @ApiPropertyOptional() reason?: string;
  @ApiPropertyOptional({ description: 'Over HTTP: the name of the token.' }) by?: string;
}

const BANS_STALE = 'Whether entries may be missing or old: Redis lost events, or is away.';

export class Bans {
  @ApiProperty() board: string;
  @ApiProperty({ description: BANS_STALE }) stale: boolean;
  @Integer(AGE, OPTIONAL) age?: number;
  @Integer('How many players are banned or erased.') count: number;
  @ApiProperty({ type: [Ban] }) bans: Ban[];
  @ApiPropertyOptional({ description: NEXT }) next?: string;
}

class KeptScore {
  @ApiProperty() view: string;
  @Columns() columns: Record<string, string>;
  @ApiProperty(TIME) reachedAt: string;
}

export class PlayerBan {
  @ApiProperty() board: string;
  @ApiProperty() playerId: string;
  @ApiProperty({ description: BANS_STALE }) stale: boolean;
  @Integer(AGE, OPTIONAL) age?: number;
  @ApiProperty({
    type: Ban,
    nullable: true,
    description: 'The record that counts for the player, which may be an unban: see `kind`.',
  })
  ban: Ban | null;
  @ApiProperty({ type: [KeptScore], description: 'Also of a player who is in no ranking.' })
  kept: KeptScore[];
}

/** The facts about a view in all reads of it. */
class ViewHead {
  @ApiProperty() board: string;
  @ApiProperty() view: string;
  @Integer('Grows with every change of the view.') version: number;
  @ApiProperty({ description: STALE }) stale: boolean;
  @Integer('The number of players in the view.') size: number;
  @Integer(AGE, OPTIONAL) age?: number;
}

class Place {
  @Integer() rank: number;
  @Integer('1 2 2 4') competitionRank: number;
  @ApiProperty() playerId: string;
  @Columns() columns: Record<string, string>;
  @ApiProperty(TIME) reachedAt: string;
}

/** A line of an export. */
export class ExportedPlayer extends Place {
  @ApiProperty() view: string;
}

export class Standing extends Place {
  @Integer('1 2 2 3; missing if it was not counted.', OPTIONAL) denseRank?: number;
  @Integer('The number of players with worse columns.') aheadOf: number;
  @ApiProperty({ description: '`aheadOf` in percent, cut to two decimals.' }) percentile: number;
}

class Neighbour extends Standing {
  @Columns() gap: Record<string, string>;
}

class Selected extends Standing {
  @Integer() position: number;
}

export class Search extends ViewHead {
  @ApiProperty({ type: [Standing] }) entries: Standing[];
  @ApiPropertyOptional({ description: NEXT }) next?: string;
}

export class Standings extends Search {
  @Integer(undefined, OPTIONAL) count?: number;
}

export class PlayerStanding extends ViewHead {
  @ApiProperty() playerId: string;
  @ApiProperty({ type: Standing, nullable: true }) standing: Standing | null;
  @ApiPropertyOptional({ type: Neighbour, nullable: true }) above?: Neighbour | null;
  @ApiPropertyOptional({ type: Neighbour, nullable: true }) below?: Neighbour | null;
}

export class PlayerStandings {
  @ApiProperty() playerId: string;
  @ApiProperty({ type: [PlayerStanding] }) standings: PlayerStanding[];
}

export class SelectedStandings extends ViewHead {
  @ApiProperty({ type: [Selected] }) entries: Selected[];
  @ApiProperty({ type: [String] }) missing: string[];
}

export class RankOfScore extends ViewHead {
  @Integer() rank: number;
  @Integer() tied: number;
}

export class Count extends ViewHead {
  @Integer() count: number;
}

class Bucket {
  @ApiProperty() min: string;
  @ApiProperty() max: string;
  @Integer() count: number;
}

/** Named here, because the bundle would name the class Histogram2: prom-client has a Histogram. */
@ApiSchema({ name: 'Histogram' })
export class Histogram extends ViewHead {
  @ApiProperty({ type: [Bucket] }) buckets: Bucket[];
}

@AnyFields('A rank change as in Kafka.')
class RankChange {}

export class RankChanges extends Currency {
  @ApiProperty() board: string;
  @ApiProperty() playerId: string;
  @ApiProperty({ ...TIME, nullable: true }) heldSince: string | null;
  @ApiProperty({ type: [RankChange] }) changes: RankChange[];
}

@AnyFields('The fields of `ranklog status --json`.')
export class Status extends Currency {}

class SentEvent {
  @ApiProperty() topic: string;
  @Integer() partition: number;
  @Integer() offset: number;
}

/** The place of a player record in the score topic. */
export class SentRecord extends SentEvent {
  @ApiProperty({ ...TIME, description: 'By which the record counts.' }) time: string;
}

export class Accepted {
  @ApiProperty({ type: [SentEvent] }) events: SentEvent[];
  @ApiProperty({ description: 'Whether the board counts an `eventId` once.' })
  deduplicated: boolean;
  @ApiPropertyOptional({ description: '`unknown`: no result within `timeout`.' }) status?: string;
}

const OUTCOME =
  '`change` or `letter` as in Kafka. `unchanged` and `unpublished` have the `places` of the ' +
  'player in the views of the event, read after it was applied. They are missing if Redis did ' +
  'not answer within a second, or within `timeout` if that is shorter, and if too many events ' +
  'wait for their places.';

@AnyFields(OUTCOME)
export class Outcome {
  @ApiProperty({ enum: ['ranked', 'deadLetter', 'unchanged', 'unpublished'] }) status: string;
  @ApiPropertyOptional({ type: [PlayerStanding] }) places?: PlayerStanding[];
}
