import {
  decimalColumns,
  formatTime,
  isVoided,
  resolveEvent,
  type RecordPlace,
  type VoidChange,
} from '#board';
import type { LiveBoard } from '#board-store';
import {
  decodeRecord,
  isRepeat,
  type DecodedPlayerRecord,
  type DecodedScoreEvent,
} from '#contracts';
import type { KafkaRecord, LogRange } from '#kafka-batch';
import {
  scoreNameText,
  type FoundScore,
  type NamedScore,
  type ScoreName,
} from '../text/score-text.js';
import { DuplicateFinder } from './duplicate-finder.js';
import { readBatches, type KafkaSession } from './kafka-session.js';

type Ranges = ReadonlyMap<number, LogRange>;

interface Request {
  readonly kind: VoidChange['kind'];
  readonly names: readonly ScoreName[];
  /** The records of which the live generation is made. */
  readonly ranges: Ranges;
}

/**
 * Finds the records of named events. To void, reads the partitions of the places, and all if an
 * event is named by its id. To unvoid, reads each partition from its first to its last void, and
 * finds voided records only.
 */
export async function searchScores(
  session: KafkaSession,
  live: LiveBoard,
  { kind, names, ranges }: Request,
): Promise<readonly NamedScore[]> {
  const search = new ScoreSearch(live, names, kind);
  const places = [...(live.definition.voids ?? []), ...names.filter(isPlace)];
  const read = kind === 'void' ? rangesToVoid(names, ranges) : rangesAround(places, ranges);
  for await (const { partition, records } of readBatches(session, read))
    for (const record of records) search.take(partition, record);
  return search.found;
}

type PlaceName = Extract<ScoreName, { kind: 'place' }>;

function isPlace(name: ScoreName): name is PlaceName {
  return name.kind === 'place';
}

function rangesToVoid(names: readonly ScoreName[], ranges: Ranges): Ranges {
  if (!names.every(isPlace)) return ranges;
  const partitions = new Set(names.map(({ partition }) => partition));
  return new Map([...ranges].filter(([partition]) => partitions.has(partition)));
}

/** By partition, the range from the first to the last of the places that are in the ranges. */
function rangesAround(
  places: readonly Omit<PlaceName, 'kind'>[],
  ranges: Ranges,
): Map<number, LogRange> {
  const around = new Map<number, LogRange>();
  for (const { partition, offset } of places) {
    const { start, end } = ranges.get(partition) ?? { start: 0, end: 0 };
    if (offset < start || offset >= end) continue;
    const known = around.get(partition) ?? { start: offset, end: offset + 1 };
    around.set(partition, {
      start: Math.min(known.start, offset),
      end: Math.max(known.end, offset + 1),
    });
  }
  return around;
}

class ScoreSearch {
  readonly found: readonly NamedScore[];
  /** By the text of the name. */
  readonly #byName: ReadonlyMap<string, NamedScore>;
  /** The players whose duplicates are of interest; undefined: all, as a place can be of any. */
  readonly #players: ReadonlySet<string> | undefined;
  /** By partition: duplicates are found within one only. */
  readonly #duplicates = new Map<number, DuplicateFinder>();

  constructor(
    private readonly live: LiveBoard,
    names: readonly ScoreName[],
    private readonly kind: VoidChange['kind'],
  ) {
    this.found = names.map((name) => ({ name, records: [] }));
    this.#byName = new Map(this.found.map((score) => [scoreNameText(score.name), score]));
    const players = names.flatMap((name) => (name.kind === 'id' ? [name.playerId] : []));
    this.#players = names.some(isPlace) ? undefined : new Set(players);
  }

  take(partition: number, record: KafkaRecord): void {
    const decoded = decodeRecord(record);
    if (!decoded.ok) return;
    if ('playerRecord' in decoded) this.#takePlayerRecord(decoded.playerRecord, partition, record);
    else this.#takeEvent(decoded.event, partition, record);
  }

  #takeEvent(event: DecodedScoreEvent, partition: number, record: KafkaRecord): void {
    const { board, definition } = this.live;
    if (event.board !== board) return;
    const { offset, timestamp } = record;
    const place = { partition, offset, timestamp };
    const isVoid = isVoided(definition, event, partition, record);
    const effect = this.#effectOf(event, { ...place, isVoid });
    if (this.kind === 'unvoid' && !isVoid) return;
    const scores = this.#scoresOf(event, place);
    if (scores.size === 0) return;
    const resolved = resolveEvent(definition, event, timestamp);
    const { playerId, eventId = null, retryOf = [] } = event;
    const { occurredAt } = resolved.ok ? resolved.event : event;
    const found = {
      ...{ ...place, playerId, eventId, kind: null, retryOf },
      occurredAt: occurredAt === undefined ? null : formatTime(occurredAt),
      values: resolved.ok ? decimalColumns(definition, resolved.event.values) : {},
      views: resolved.ok ? resolved.event.views.map(({ view }) => view) : [],
      effect,
    };
    for (const score of scores) score.records.push(found);
  }

  /** A player record has no event id, so only a place names it: its own, or one that it retries. */
  #takePlayerRecord(
    playerRecord: DecodedPlayerRecord,
    partition: number,
    record: KafkaRecord,
  ): void {
    const { board, definition } = this.live;
    if (playerRecord.board !== board) return;
    const { offset, timestamp } = record;
    const place = { partition, offset, timestamp };
    const isVoid = isVoided(definition, playerRecord, partition, record);
    if (this.kind === 'unvoid' && !isVoid) return;
    const found = foundRecord(playerRecord, place, isVoid);
    for (const score of this.#scoresOf(playerRecord, place)) score.records.push(found);
  }

  /** To be called for all events of the board, in the order of a partition. */
  #effectOf(
    event: DecodedScoreEvent,
    { partition, timestamp, isVoid }: RecordPlace & { readonly isVoid: boolean },
  ): string {
    const { definition } = this.live;
    if (isRepeat(event, this.live)) return 'repeat';
    const resolved = resolveEvent(definition, event, timestamp);
    if (!resolved.ok) return `refused: ${resolved.code}`;
    const duplicates = this.#duplicates.get(partition) ?? new DuplicateFinder(definition);
    this.#duplicates.set(partition, duplicates);
    duplicates.advance(resolved.event);
    const isOfInterest = this.#players?.has(event.playerId) ?? true;
    const isDuplicate = isOfInterest && duplicates.isDuplicate(resolved.event);
    if (isVoid) return 'voided';
    return isDuplicate ? 'duplicate' : 'counts';
  }

  /** The named events of a record: by player and id, its place, or a place that it retries. */
  #scoresOf(event: NamedRecord, place: RecordPlace): Set<NamedScore> {
    const { playerId, eventId, retryOf = [] } = event;
    const names = [place, ...retryOf].map((one): ScoreName => ({ kind: 'place', ...one }));
    if (eventId !== undefined) names.push({ kind: 'id', playerId, eventId });
    return new Set(names.flatMap((name) => this.#byName.get(scoreNameText(name)) ?? []));
  }
}

/** What names a record beside its place. */
type NamedRecord = Pick<DecodedScoreEvent, 'playerId' | 'eventId' | 'retryOf'>;

function foundRecord(
  { kind, playerId, occurredAt, retryOf = [] }: DecodedPlayerRecord,
  place: RecordPlace,
  isVoid: boolean,
): FoundScore {
  return {
    ...{ ...place, playerId, eventId: null, kind, retryOf },
    occurredAt: formatTime(occurredAt),
    values: {},
    views: [],
    effect: isVoid ? 'voided' : 'counts',
  };
}
