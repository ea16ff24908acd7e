import { definitionHash, type BoardDefinition, type ResolvedEvent } from '#board';
import { decodeScoreEvent, retriedIds, type DecodedScoreEvent, type RankChange } from '#contracts';
import { resolvePlainly } from '../../model/oracle-resolve.js';
import { Oracle } from '../../model/oracle.js';
import { causeOf, type ReadRecord } from '../../support/results.js';
import { Epochs } from './epochs.js';
import { groupBy, hashOf, recordId, versionOf, type RunFacts } from './facts.js';

/** A record of the score topic; `id` is `topic/partition/offset`. */
interface LogRecord {
  readonly id: string;
  readonly partition: number;
  readonly offset: number;
  /** As its producer has set it, in ms. */
  readonly timestamp: number;
  /** It was written at this time or later, in ms: the latest timestamp in its partition up to it. */
  readonly writtenSince: number;
}

/** A score event of a known board. */
export interface BoardRecord extends LogRecord {
  readonly event: DecodedScoreEvent;
  /** The events that it retries, the original first; none if it is no retry. */
  readonly retried: readonly BoardRecord[];
}

/** A record that is no valid event of a known board. */
interface BadRecord extends LogRecord {
  readonly code: string;
}

/** The effect of an event according to one definition. */
export interface Outcome {
  /** The event in the board's terms; missing if the definition refuses or skips the event. */
  readonly event?: ResolvedEvent;
  /** Published views that the event changes. If there is at least one, the event has a rank change. */
  readonly moved: readonly string[];
  /** The possible reasons of the event's dead letter. */
  readonly reasons?: ReadonlySet<string>;
}

/** The effect of the whole log according to one definition. */
export interface Judgement {
  readonly definition: BoardDefinition;
  /** The oracle after all events. */
  readonly oracle: Oracle;
  /** The outcome of each event, by the id of its record. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** An event of a board, with the version and definition by which it was applied. */
export interface AppliedEvent extends BoardRecord {
  /** For an event without a rank change, the smallest version that it can have (see `appliedEvent`). */
  readonly version: number;
  readonly hash: string;
  readonly outcome: Outcome;
  readonly rankChange?: RankChange;
}

/** The events of one board, its definitions, and its epochs: the times during which one definition was live. */
export interface BoardHistory {
  readonly board: string;
  readonly epochs: Epochs;
  /** The judgement of each definition that was live, by its hash. */
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** In the order in which they were applied. */
  readonly events: readonly AppliedEvent[];
}

/** The results that a score topic must have. An id is that of a record of the score topic: `topic/partition/offset`. */
export interface Expected {
  /** After all events, by the definitions that are live at the end. */
  readonly oracle: Oracle;
  readonly boards: readonly BoardHistory[];
  /** Ids of events that changed a published view, by the definition that applied each event. Each has one rank change. */
  readonly applied: ReadonlySet<string>;
  /** Ids of bad records and of refused events, with the possible reasons of each. Each has one dead letter. */
  readonly deadLetters: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Judges the log by every definition that was live, and takes for each event the outcome of the definition that applied it. */
export function expectedOf(topic: string, facts: RunFacts): Expected {
  const names = new Set(facts.known.map(({ board }) => board));
  const { events, bad } = readLog(topic, names, facts.log);
  const boards = [...names].map((board) => historyOf(board, facts, events));
  const all = boards.flatMap((history) => history.events);
  const memories = facts.definitions.flatMap((definition) => {
    const { board } = definition;
    const history = boards.find((one) => one.board === board);
    const judgement = history?.judgements.get(definitionHash(definition));
    return judgement ? [[board, judgement.oracle.memory(board)] as const] : [];
  });
  return {
    oracle: new Oracle(facts.definitions, new Map(memories)),
    boards,
    applied: new Set(all.flatMap(({ id, outcome }) => (outcome.moved.length > 0 ? [id] : []))),
    deadLetters: new Map([
      ...bad.map(({ id, code }) => [id, new Set([code])] as const),
      ...all.flatMap(({ id, outcome: { reasons } }) =>
        reasons === undefined ? [] : [[id, reasons] as const],
      ),
    ]),
  };
}

/** The limits that docs/reference names; those of the code would hide that they are missing. */
const MAX_HEADERS = 256;
const MAX_RANKLOG_HEADERS = 64;

function hasTooManyHeaders({ headers }: ReadRecord): boolean {
  const count = (isRanklog: boolean) =>
    Object.entries(headers)
      .filter(([name]) => name.startsWith('ranklog_') === isRanklog)
      .flatMap(([, values]) => values).length;
  const ofRanklog = Math.min(count(true), MAX_RANKLOG_HEADERS);
  return count(true) + count(false) - ofRanklog > MAX_HEADERS;
}

/** Sorts the log by partition and offset, and separates the events of known boards from the bad records. */
function readLog(
  topic: string,
  boards: ReadonlySet<string>,
  log: readonly ReadRecord[],
): { events: BoardRecord[]; bad: BadRecord[] } {
  const events: BoardRecord[] = [];
  const bad: BadRecord[] = [];
  const byId = new Map<string, BoardRecord>();
  const latest = new Map<number, number>();
  for (const record of log.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset)) {
    const { partition, offset, timestamp } = record;
    const id = recordId(topic, record);
    const writtenSince = Math.max(timestamp, latest.get(partition) ?? 0);
    latest.set(partition, writtenSince);
    const place = { id, partition, offset, timestamp, writtenSince };
    const decoded = decodeScoreEvent(record);
    if (hasTooManyHeaders(record)) bad.push({ ...place, code: 'TOO_MANY_HEADERS' });
    else if (!decoded.ok) bad.push({ ...place, code: decoded.code });
    else if (boards.has(decoded.event.board)) {
      const retried = retriedIds(record).flatMap((one) => byId.get(one) ?? []);
      const event = { ...place, event: decoded.event, retried };
      byId.set(id, event);
      events.push(event);
    } else bad.push({ ...place, code: 'UNKNOWN_BOARD' });
  }
  return { events, bad };
}

/**
 * Applies the events of the definition's board, one partition after the other. That is enough,
 * because all events of a player are in one partition.
 */
function judge(definition: BoardDefinition, events: readonly BoardRecord[]): Judgement {
  const oracle = new Oracle([definition]);
  const own = events.filter(({ event }) => event.board === definition.board);
  const outcomes = new Map(own.map((record) => [record.id, outcomeOf(definition, oracle, record)]));
  return { definition, oracle, outcomes };
}

function outcomeOf(definition: BoardDefinition, oracle: Oracle, record: BoardRecord): Outcome {
  if (isSkipped(definition, record)) return { moved: [] };
  const { event: input, timestamp, partition } = record;
  const { event, reasons } = resolvePlainly(definition, { input, timestamp });
  if (event === undefined && isOnlyLate(reasons) && definition.late === 'count')
    return { moved: [] };
  if (event === undefined) return { moved: [], reasons: new Set(reasons) };
  const { verdict, moved } = oracle.apply(definition.board, unpublished(event), partition);
  const published = event.views.filter((view) => view.published && moved.includes(view.view));
  const outcome = { event, moved: published.map(({ view }) => view) };
  return verdict?.kind === 'deadLetter'
    ? { ...outcome, reasons: new Set([verdict.code]) }
    : outcome;
}

/** Whether all windows of an event have closed, and nothing else is wrong with it. */
function isOnlyLate(reasons: ReadonlySet<string>): boolean {
  return reasons.size === 1 && reasons.has('WINDOW_CLOSED');
}

/** A retry counts only if the definition takes no record that it repeats. */
export function isSkipped(definition: BoardDefinition, { retried }: BoardRecord): boolean {
  return retried.some((record) => isTaken(definition, record));
}

/** Whether a definition accepts an event at the timestamp of its record. */
export function isTaken(
  definition: BoardDefinition,
  { event: input, timestamp }: Pick<BoardRecord, 'event' | 'timestamp'>,
): boolean {
  return resolvePlainly(definition, { input, timestamp }).event !== undefined;
}

/** Marks all views of an event as unpublished: for these, the oracle does not compute ranks, which is slow. */
export function unpublished(event: ResolvedEvent): ResolvedEvent {
  return { ...event, views: event.views.map((view) => ({ ...view, published: false })) };
}

function historyOf(board: string, facts: RunFacts, all: readonly BoardRecord[]): BoardHistory {
  const epochs = Epochs.of(board, facts);
  const live = new Set(facts.definitions.map(definitionHash));
  const own = facts.known.filter((definition) => {
    const hash = definitionHash(definition);
    return definition.board === board && (live.has(hash) || epochs.has(hash));
  });
  const judgements = new Map(
    own.map((definition) => [definitionHash(definition), judge(definition, all)]),
  );
  const changes = facts.rankChanges.filter((change) => change.board === board);
  // If an event has two rank changes, the first one counts.
  const rankChanges = new Map(changes.toReversed().map((change) => [causeOf(change), change]));
  const refused = new Map(facts.deadLetters.map(({ id, code }) => [id, code]));
  const partitions = groupBy(
    all.filter(({ event }) => event.board === board),
    ({ partition }) => partition,
  );
  const events = [...partitions.values()]
    .flatMap((records) => appliedEvents(records, { epochs, judgements, rankChanges, refused }))
    .sort((a, b) => a.version - b.version || a.offset - b.offset);
  return { board, epochs, judgements, events };
}

/** The facts of one board. */
interface BoardFacts extends Pick<BoardHistory, 'epochs' | 'judgements'> {
  /** By the id of the event that caused the rank change. */
  readonly rankChanges: ReadonlyMap<string, RankChange>;
  /** The reasons of dead letters, by the id of the bad record or refused event. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Finds out when, and by which definition, each record of a partition was applied. */
function appliedEvents(records: readonly BoardRecord[], facts: BoardFacts): AppliedEvent[] {
  const { epochs, rankChanges } = facts;
  let next = epochs.count - 1;
  /**
   * For each record, the last epoch in which it may have been applied: that of its rank change, or else of the next rank change in
   * the partition, or else the last epoch of the board.
   */
  const lastEpochs = records
    .toReversed()
    .map(({ id }) => {
      const change = rankChanges.get(id);
      if (change !== undefined) next = epochs.at(versionOf(change));
      return next;
    })
    .reverse();
  let at = { epoch: 0, version: 0 };
  return records.map((record, index) => {
    const event = appliedEvent(record, { ...at, lastEpoch: lastEpochs[index] ?? 0 }, facts);
    at = { version: event.version, epoch: epochs.at(event.version) };
    return event;
  });
}

/**
 * Finds out when, and by which definition, one record was applied. A rank change has the version, and the id of its
 * generation names the definition. An event without a rank change was applied after it was written, and between the nearest
 * events of its partition that have one. The definition is one under which the event changes nothing, or one that refuses the
 * event for the reason of its dead letter. If several epochs fit, the earliest one is assumed, because every rank computed by
 * a later definition includes the effect of the event.
 */
function appliedEvent(
  record: BoardRecord,
  at: { readonly epoch: number; readonly version: number; readonly lastEpoch: number },
  { epochs, judgements, rankChanges, refused }: BoardFacts,
): AppliedEvent {
  const by = (hash: string): Pick<AppliedEvent, 'hash' | 'outcome'> => ({
    hash,
    outcome: judgements.get(hash)?.outcomes.get(record.id) ?? { moved: [] },
  });
  const rankChange = rankChanges.get(record.id);
  if (rankChange !== undefined)
    return { ...record, rankChange, version: versionOf(rankChange), ...by(hashOf(rankChange.generation)) }; // prettier-ignore
  const reason = refused.get(record.id);
  const written = record.writtenSince * 1_000;
  const earliest = Math.min(epochs.at(written), at.lastEpoch);
  for (let epoch = Math.max(at.epoch, earliest); epoch <= at.lastEpoch; epoch++) {
    const applied = by(epochs.hash(epoch));
    const { moved, reasons } = applied.outcome;
    const fits = moved.length === 0 && (reason === undefined ? !reasons : reasons?.has(reason));
    const version = Math.max(at.version, written, epoch === 0 ? 0 : epochs.since(epoch));
    if (fits) return { ...record, version, ...applied };
  }
  return { ...record, version: at.version, ...by(epochs.hash(at.epoch)) };
}
