import type { DeadLetterRecord, LeaderChange, PeriodResult, RankChange } from '#client';
import { encodeLeaderChange, encodePeriodResult, encodeRankChange } from '#contracts';
import { decodeLeaderChange, decodePeriodResult, decodeRankChange } from '#nestjs';
import { nextVersion } from './memory-view.js';

type Movement = RankChange['changes'][number];
type Placing = NonNullable<Movement['after']>;
type Leader = PeriodResult['results'][number];

/**
 * The fields of a rank change that a test needs. Placings may lack their rank (1) and columns
 * (none).
 */
export interface RankChangeFields extends Partial<Omit<RankChange, 'changes'>> {
  readonly changes?: readonly MovementFields[];
}

export interface MovementFields extends Partial<Omit<Movement, 'before' | 'after'>> {
  readonly before?: Partial<Placing> | null;
  readonly after?: Partial<Placing> | null;
}

/**
 * The fields of a leader change that a test needs. Leaders in `top` may lack their rank, which is
 * their position in the list.
 */
export interface LeaderChangeFields extends Partial<Omit<LeaderChange, 'top'>> {
  readonly top?: readonly LeaderFields[];
}

/**
 * The fields of a period result that a test needs. Players in `results` may lack their rank, which
 * is their position in the list.
 */
export interface PeriodResultFields extends Partial<Omit<PeriodResult, 'results'>> {
  readonly results?: readonly LeaderFields[];
}

/** The fields of a dead letter that a test needs. `value` is the text of the refused record. */
export interface DeadLetterFields extends Partial<Omit<DeadLetterRecord, 'value'>> {
  readonly value?: string;
}

export type LeaderFields = Partial<Leader> & Pick<Leader, 'playerId'>;

const TIME = '2026-11-25T12:00:00.000Z';
const TOPIC = 'ranklog.score-events';
let offset = 0;

/** Each result gets its own source, because services identify results by it. */
function nextSource() {
  return { topic: TOPIC, partition: 0, offset: offset++ };
}

/**
 * A rank change as RankChangeSubscriber and @OnRankChange() deliver it. By default, `player` enters
 * the view `all` of `board` at rank 1.
 * @throws MalformedRecordError for an invalid field
 */
export function rankChange({ changes = [{}], ...fields }: RankChangeFields = {}): RankChange {
  const made = {
    board: 'board',
    generation: 'generation',
    playerId: 'player',
    source: nextSource(),
    occurredAt: TIME,
    ...fields,
  };
  const { value } = encodeRankChange(made, JSON.stringify(changes.map(movement)));
  return decodeRankChange(recordOf(value));
}

function movement({ before = null, after = {}, ...fields }: MovementFields) {
  return { view: 'all', version: 1, before: placing(before), after: placing(after), ...fields };
}

function placing(fields: Partial<Placing> | null) {
  return fields && { rank: 1, columns: {}, ...fields };
}

/**
 * A leader change as LeaderChangeSubscriber and @OnLeaderChange() deliver it. By default, the top
 * of the view `all` of `board` is empty.
 * @throws MalformedRecordError for an invalid field
 */
export function leaderChange({ top = [], ...fields }: LeaderChangeFields = {}): LeaderChange {
  const { value } = encodeLeaderChange({
    board: 'board',
    generation: 'generation',
    view: 'all',
    version: nextVersion(),
    since: null,
    source: nextSource(),
    occurredAt: TIME,
    top: leaders(top),
    entered: [],
    left: [],
    moved: [],
    ...fields,
  });
  return decodeLeaderChange(recordOf(value));
}

/**
 * A period result as PeriodResultSubscriber and @OnPeriodClosed() deliver it; by default, of the
 * week 2026-W47 of `board`.
 * @throws MalformedRecordError for an invalid field
 */
export function periodResult({ results = [], ...fields }: PeriodResultFields = {}): PeriodResult {
  const window = fields.view?.split(' ')[0] ?? 'week:2026-W47';
  const made = {
    board: 'board',
    generation: 'generation',
    view: window,
    window,
    start: '2026-11-16T00:00:00.000Z',
    end: '2026-11-23T00:00:00.000Z',
    revision: 1,
    size: results.length,
    results: leaders(results),
    ...fields,
  };
  const { value } = encodePeriodResult(made, TOPIC);
  return decodePeriodResult(recordOf(value));
}

/**
 * A dead letter as DeadLetterSubscriber and @OnDeadLetter() deliver it; by default, of a score
 * event for an unknown board.
 */
export function deadLetter({ value = '{}', ...fields }: DeadLetterFields = {}): DeadLetterRecord {
  return {
    ...recordOf(value),
    ...nextSource(),
    code: 'UNKNOWN_BOARD',
    detail: 'no board "board" is defined',
    timestamp: Date.parse(TIME),
    leftOut: [],
    ...fields,
  };
}

function leaders(list: readonly LeaderFields[]): Leader[] {
  return list.map((fields, index) => {
    const rank = fields.rank ?? index + 1;
    return { competitionRank: rank, columns: {}, ...fields, rank };
  });
}

function recordOf(value: string) {
  return { key: null, value: Buffer.from(value), headers: {} };
}
