import { decimalColumns, formatTime, isVoided, resolveEvent } from '#board';
import type { LiveBoard } from '#board-store';
import {
  causeId,
  decodeScoreEvent,
  isRepeat,
  retriedIds,
  type DecodedScoreEvent,
} from '#contracts';
import { partitionOf, type KafkaRecord, type LogRange } from '#kafka-batch';
import type { NamedScore, ScoreName } from '../text/score-text.js';
import { DuplicateFinder } from './duplicate-finder.js';
import { readWithProgress, type KafkaSession } from './kafka-session.js';

type Ranges = ReadonlyMap<number, LogRange>;

/**
 * Finds named events in the records of which the live generation is made. Reads the partitions of
 * the places and of the players' keys; all, if an id is not found there.
 */
export async function searchScores(
  session: KafkaSession,
  live: LiveBoard,
  { names, ranges }: { readonly names: readonly ScoreName[]; readonly ranges: Ranges },
): Promise<readonly NamedScore[]> {
  const search = new ScoreSearch(live, session.topics.scoreEvents, names);
  for (const [partition, range] of search.rangesOfPlaces(ranges))
    for await (const record of readWithProgress(session, new Map([[partition, range]])))
      search.takePlace(partition, record);
  const first = search.likelyPartitions(ranges.size);
  await readPartitions(session, search, ranges, (partition) => first.has(partition));
  if (search.lacksIds)
    await readPartitions(session, search, ranges, (partition) => !first.has(partition));
  return search.found;
}

async function readPartitions(
  session: KafkaSession,
  search: ScoreSearch,
  ranges: Ranges,
  isWanted: (partition: number) => boolean,
): Promise<void> {
  for (const [partition, range] of ranges) {
    if (!isWanted(partition)) continue;
    search.begin(partition);
    for await (const record of readWithProgress(session, new Map([[partition, range]])))
      search.take(record);
  }
}

class ScoreSearch {
  readonly found: readonly NamedScore[];
  /** By event id, newline, player id. */
  readonly #byId = new Map<string, NamedScore>();
  /** By partition/offset. */
  readonly #byPlace = new Map<string, NamedScore>();
  /** By the id of the first record of a chain of retries. */
  readonly #byOrigin = new Map<string, Set<NamedScore>>();
  /** The players of the named events: duplicates are found among their events only. */
  readonly #players = new Set<string>();
  #partition = 0;
  #duplicates: DuplicateFinder;

  constructor(
    private readonly live: LiveBoard,
    private readonly topic: string,
    names: readonly ScoreName[],
  ) {
    this.found = names.map((name) => ({ name, records: [] }));
    this.#duplicates = new DuplicateFinder(live.definition);
    for (const score of this.found) {
      const { name } = score;
      if (name.kind === 'place') this.#byPlace.set(`${name.partition}/${name.offset}`, score);
      else {
        this.#byId.set(idOf(name), score);
        this.#players.add(name.playerId);
      }
    }
  }

  /** By partition, the range from its first to its last named place. */
  rangesOfPlaces(ranges: Ranges): Ranges {
    const found = new Map<number, LogRange>();
    for (const { name } of this.found) {
      const range = name.kind === 'place' ? ranges.get(name.partition) : undefined;
      if (name.kind !== 'place' || range === undefined) continue;
      const { partition, offset } = name;
      if (offset < range.start || offset >= range.end) continue;
      const { start, end } = found.get(partition) ?? { start: offset, end: offset + 1 };
      found.set(partition, { start: Math.min(start, offset), end: Math.max(end, offset + 1) });
    }
    return found;
  }

  /** Notes the event of a named place, so that `take` finds its retries. */
  takePlace(partition: number, record: KafkaRecord): void {
    const score = this.#byPlace.get(`${partition}/${record.offset}`);
    const event = this.#eventOf(record);
    if (score === undefined || event === undefined) return;
    this.#players.add(event.playerId);
    const origin = this.#originOf(partition, record);
    this.#byOrigin.set(origin, (this.#byOrigin.get(origin) ?? new Set()).add(score));
  }

  /** The partitions of the places, and of the players' keys. */
  likelyPartitions(partitions: number): ReadonlySet<number> {
    return new Set(
      this.found.map(({ name }) =>
        name.kind === 'place' ? name.partition : partitionOf(name.playerId, partitions),
      ),
    );
  }

  get lacksIds(): boolean {
    return this.found.some(({ name, records }) => name.kind === 'id' && records.length === 0);
  }

  /** The records that follow are those of this partition. Duplicates are found within one only. */
  begin(partition: number): void {
    this.#partition = partition;
    this.#duplicates = new DuplicateFinder(this.live.definition);
  }

  take(record: KafkaRecord): void {
    const event = this.#eventOf(record);
    if (event === undefined) return;
    const { definition } = this.live;
    const isRepeated = isRepeat(event, this.live);
    const resolved = resolveEvent(definition, event, record.timestamp);
    const accepted = resolved.ok && !isRepeated ? resolved.event : undefined;
    if (accepted !== undefined) this.#duplicates.advance(accepted);
    if (!this.#players.has(event.playerId)) return;
    const isDuplicate = accepted !== undefined && this.#duplicates.isDuplicate(accepted);
    const scores = this.#scoresOf(event, record);
    if (scores.size === 0) return;
    const voided = isVoided(definition, this.#partition, record);
    const { playerId, eventId = null } = event;
    const { occurredAt } = resolved.ok ? resolved.event : event;
    const found = {
      partition: this.#partition,
      offset: record.offset,
      timestamp: record.timestamp,
      playerId,
      eventId,
      occurredAt: occurredAt === undefined ? null : formatTime(occurredAt),
      values: resolved.ok ? decimalColumns(definition, resolved.event.values) : {},
      views: accepted?.views.map(({ view }) => view) ?? [],
      isVoided: voided,
      effect: isRepeated ? 'repeat' : effectOf(resolved, { voided, isDuplicate }),
    };
    for (const score of scores) score.records.push(found);
  }

  /** The event of a record, if it is one of the board. */
  #eventOf(record: KafkaRecord): DecodedScoreEvent | undefined {
    const decoded = decodeScoreEvent(record);
    const isOurs = decoded.ok && decoded.event.board === this.live.board;
    return isOurs ? decoded.event : undefined;
  }

  #scoresOf(event: DecodedScoreEvent, record: KafkaRecord): Set<NamedScore> {
    const { playerId, eventId } = event;
    const scores = new Set(this.#byOrigin.get(this.#originOf(this.#partition, record)));
    const byId = eventId === undefined ? undefined : this.#byId.get(idOf({ playerId, eventId }));
    return byId === undefined ? scores : scores.add(byId);
  }

  #originOf(partition: number, record: KafkaRecord): string {
    const [first] = retriedIds(record);
    return first ?? causeId({ topic: this.topic, partition, offset: record.offset });
  }
}

function idOf({ playerId, eventId }: { playerId: string; eventId: string }): string {
  return `${eventId}\n${playerId}`;
}

function effectOf(
  resolved: ReturnType<typeof resolveEvent>,
  { voided, isDuplicate }: { readonly voided: boolean; readonly isDuplicate: boolean },
): string {
  if (!resolved.ok) return `refused: ${resolved.code}`;
  if (voided) return 'voided';
  return isDuplicate ? 'duplicate' : 'counts';
}
