import {
  decimalColumns,
  formatTime,
  isVoided,
  type BoardDefinition,
  type RecordPlace,
  type VoidChange,
} from '#board';
import type { LiveBoard } from '#board-store';
import { decodeRecord, type DecodedPlayerRecord, type DecodedScoreEvent } from '#contracts';
import { recordsAt, type KafkaRecord, type LogRange } from '#kafka-batch';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import {
  placeText,
  scoreNameText,
  type FoundScore,
  type NamedScore,
  type ScoreName,
  type VoidedRecord,
} from '../text/score-text.js';
import { EventEffects } from './event-effects.js';
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

/** The voided records of a board, with their players and events if the log still has them. */
export async function readVoided(
  session: KafkaSession,
  { voids = [] }: BoardDefinition,
): Promise<VoidedRecord[]> {
  await passOverSkipped(session);
  const topic = session.topics.scoreEvents;
  const records = new Map<string, KafkaRecord>();
  for (const partition of new Set(voids.map((place) => place.partition))) {
    const places = voids.filter((place) => place.partition === partition);
    const offsets = places.map(({ offset }) => offset);
    for (const record of await recordsAt(session.kafka, { topic, partition }, offsets))
      records.set(placeText({ partition, offset: record.offset }), record);
  }
  return voids.map((place) => voidedRecord(place, records.get(placeText(place))));
}

/** A record with another timestamp is not the voided one: the topic was created again since. */
function voidedRecord(place: RecordPlace, record: KafkaRecord | undefined): VoidedRecord {
  const decoded = record?.timestamp === place.timestamp ? decodeRecord(record) : undefined;
  if (!decoded?.ok) return { ...place, playerId: null, eventId: null, kind: null };
  if ('playerRecord' in decoded) {
    const { playerId, kind } = decoded.playerRecord;
    return { ...place, playerId, eventId: null, kind };
  }
  const { playerId, eventId = null } = decoded.event;
  return { ...place, playerId, eventId, kind: null };
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
  /** The events that are named by a player and an id, by player. */
  readonly #byPlayer = new Map<string, NamedScore[]>();
  readonly #effects: EventEffects;

  constructor(
    private readonly live: LiveBoard,
    names: readonly ScoreName[],
    private readonly kind: VoidChange['kind'],
  ) {
    this.found = names.map((name) => ({ name, records: [], isPlayerKnown: false }));
    this.#byName = new Map(this.found.map((score) => [scoreNameText(score.name), score]));
    for (const score of this.found) {
      if (score.name.kind !== 'id') continue;
      const { playerId } = score.name;
      this.#byPlayer.set(playerId, [...(this.#byPlayer.get(playerId) ?? []), score]);
    }

    const hasPlaces = names.some(isPlace); // the record of a place can be of any player
    this.#effects = new EventEffects(live, (playerId) => hasPlaces || this.#byPlayer.has(playerId));
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
    for (const score of this.#byPlayer.get(event.playerId) ?? []) score.isPlayerKnown = true;
    const { offset, timestamp } = record;
    const place = { partition, offset, timestamp };
    const eventEffect = this.#effects.of(event, partition, record);
    const { effect, resolution: resolved } = eventEffect;
    if (this.kind === 'unvoid' && !eventEffect.isVoided) return;
    const scores = this.#scoresOf(event, place);
    if (scores.size === 0) return;

    const { playerId, eventId = null, retryOf = [] } = event;
    const { occurredAt } = resolved.ok ? resolved.event : event;
    const found = {
      ...place,
      playerId,
      eventId,
      kind: null,
      retryOf,
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

  /** The named events of a record: by player and id, its place, or a place that it retries. */
  #scoresOf(event: NamedRecord, place: RecordPlace): Set<NamedScore> {
    const { playerId, eventId, retryOf = [] } = event;
    const places = [place, ...retryOf];
    const names = places.map((named): ScoreName => ({ kind: 'place', ...named }));
    if (eventId !== undefined) names.push({ kind: 'id', playerId, eventId });
    return new Set(names.flatMap((name) => this.#byName.get(scoreNameText(name)) ?? []));
  }
}

/** The fields that can name a record, beside its place. */
type NamedRecord = Pick<DecodedScoreEvent, 'playerId' | 'eventId' | 'retryOf'>;

function foundRecord(
  { kind, playerId, occurredAt, retryOf = [] }: DecodedPlayerRecord,
  place: RecordPlace,
  isVoid: boolean,
): FoundScore {
  return {
    ...place,
    playerId,
    eventId: null,
    kind,
    retryOf,
    occurredAt: formatTime(occurredAt),
    values: {},
    views: [],
    effect: isVoid ? 'voided' : 'counts',
  };
}
