import { definitionHash, type BoardDefinition, type ResolvedEvent } from '#board';
import type { RankChange } from '#contracts';
import { kindOf } from '../../model/oracle-players.js';
import { resolvePlainly } from '../../model/oracle-resolve.js';
import { Oracle } from '../../model/oracle.js';
import { causeOf } from '../../support/results.js';
import { Epochs } from './epochs.js';
import { groupBy, hashOf, versionOf, type RunFacts } from './facts.js';
import { readLog, type BoardRecord, type EventRecord } from './read-log.js';

/** The effect of a record according to one definition. */
export interface Outcome {
  /**
   * The event in the board's terms; missing if the definition refuses or skips it, and for a player
   * record.
   */
  readonly event?: ResolvedEvent;
  /**
   * Views in which an event changes the state of its player, who may be banned; none for a player
   * record.
   */
  readonly changed: readonly string[];
  /**
   * Published rankings that the record changes. If there is at least one, the record has a rank
   * change.
   */
  readonly moved: readonly string[];
  /** The possible reasons of the event's dead letter. */
  readonly reasons?: ReadonlySet<string>;
}

/** The effect of the whole log according to one definition. */
export interface Judgement {
  readonly definition: BoardDefinition;
  /** The oracle after all events. */
  readonly oracle: Oracle;
  /** The outcome of each record, by its id. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** A record of a board, with the version and definition by which it was applied. */
export type AppliedRecord = BoardRecord & {
  /**
   * For a record without a rank change, the smallest version that it can have (see
   * `appliedRecord`).
   */
  readonly version: number;
  readonly hash: string;
  readonly outcome: Outcome;
  readonly rankChange?: RankChange;
};

/**
 * The records of one board, its definitions, and its epochs: the times during which one definition
 * was live.
 */
export interface BoardHistory {
  readonly board: string;
  readonly epochs: Epochs;
  /** The judgement of each definition that was live, by its hash. */
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** In the order in which they were applied. */
  readonly records: readonly AppliedRecord[];
}

/**
 * The results that a score topic must have. An id is that of a record of the score topic:
 * `topic/partition/offset`.
 */
export interface Expected {
  /** After all records, by the definitions that are live at the end. */
  readonly oracle: Oracle;
  readonly boards: readonly BoardHistory[];
  /**
   * Ids of records that changed a published view, by the definition that applied each record. Each
   * has one rank change.
   */
  readonly applied: ReadonlySet<string>;
  /**
   * Ids of bad records and of refused events, with the possible reasons of each. Each has one dead
   * letter.
   */
  readonly deadLetters: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Judges the log by every definition that was live, and takes for each record the outcome of the
 * definition that applied it.
 */
export function expectedOf(topic: string, facts: RunFacts): Expected {
  const names = new Set(facts.known.map(({ board }) => board));
  const { records, bad } = readLog(topic, names, facts.log);
  const boards = [...names].map((board) => historyOf(board, facts, records));
  const all = boards.flatMap((history) => history.records);
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

/**
 * Applies the records of the definition's board, one partition after the other. That is enough,
 * because all records of a player are in one partition.
 */
function judge(definition: BoardDefinition, records: readonly BoardRecord[]): Judgement {
  const oracle = new Oracle([definition]);
  const own = records.filter(({ board }) => board === definition.board);
  const outcomes = new Map(own.map((record) => [record.id, outcomeOf(definition, oracle, record)]));
  return { definition, oracle, outcomes };
}

const NONE = { changed: [], moved: [] };

/** Of a player record, all views count as published: the boards of the suite publish all. */
function outcomeOf(definition: BoardDefinition, oracle: Oracle, record: BoardRecord): Outcome {
  const { board } = definition;
  if ('player' in record) return { changed: [], moved: oracle.join(board, record.player).moved };
  if (isSkipped(definition, record)) return NONE;
  const { event: input, timestamp, partition } = record;
  const { event, reasons } = resolvePlainly(definition, { input, timestamp });
  if (event === undefined && isOnlyLate(reasons) && definition.late === 'count') return NONE;
  if (event === undefined) return { ...NONE, reasons: new Set(reasons) };
  const isRanked = kindOf(oracle.memory(board), event.playerId) === 'unbanned';
  const { verdict, moved: changed } = oracle.apply(board, unpublished(event), partition);
  const published = event.views.filter((view) => view.published && changed.includes(view.view));
  const moved = isRanked ? published.map(({ view }) => view) : [];
  const outcome = { event, changed, moved };
  return verdict?.kind === 'deadLetter'
    ? { ...outcome, reasons: new Set([verdict.code]) }
    : outcome;
}

/** Whether all windows of an event have closed, and nothing else is wrong with it. */
function isOnlyLate(reasons: ReadonlySet<string>): boolean {
  return reasons.size === 1 && reasons.has('WINDOW_CLOSED');
}

/** A retry counts only if the definition takes no record that it repeats. */
export function isSkipped(definition: BoardDefinition, { retried }: EventRecord): boolean {
  return retried.some((record) => isTaken(definition, record));
}

/** Whether a definition accepts an event at the timestamp of its record. */
export function isTaken(
  definition: BoardDefinition,
  { event: input, timestamp }: Pick<EventRecord, 'event' | 'timestamp'>,
): boolean {
  return resolvePlainly(definition, { input, timestamp }).event !== undefined;
}

/**
 * Marks all views of an event as unpublished: for these, the oracle does not compute ranks, which
 * is slow.
 */
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
    all.filter((record) => record.board === board),
    ({ partition }) => partition,
  );
  const records = [...partitions.values()]
    .flatMap((own) => appliedRecords(own, { epochs, judgements, rankChanges, refused }))
    .sort((a, b) => a.version - b.version || a.offset - b.offset);
  return { board, epochs, judgements, records };
}

/** The facts of one board. */
interface BoardFacts extends Pick<BoardHistory, 'epochs' | 'judgements'> {
  /** By the id of the record that caused the rank change. */
  readonly rankChanges: ReadonlyMap<string, RankChange>;
  /** The reasons of dead letters, by the id of the bad record or refused event. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Finds out when, and by which definition, each record of a partition was applied. */
function appliedRecords(records: readonly BoardRecord[], facts: BoardFacts): AppliedRecord[] {
  const { epochs, rankChanges } = facts;
  let next = epochs.count - 1;
  /**
   * For each record, the last epoch in which it may have been applied: that of its rank change, or
   * else of the next rank change in the partition, or else the last epoch of the board.
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
    const applied = appliedRecord(record, { ...at, lastEpoch: lastEpochs[index] ?? 0 }, facts);
    at = { version: lastVersionOf(applied), epoch: epochs.at(applied.version) };
    return applied;
  });
}

/**
 * A ban of a player with many views takes several calls, and later records come after the last one.
 */
function lastVersionOf({ version, rankChange }: AppliedRecord): number {
  return Math.max(version, ...(rankChange?.changes ?? []).map((change) => change.version));
}

/**
 * Finds out when, and by which definition, one record was applied. A rank change has the version,
 * and the id of its generation names the definition. A record without a rank change was applied
 * after it was written, and between the nearest records of its partition that have one. The
 * definition is one under which the record changes nothing, or one that refuses the record for the
 * reason of its dead letter. If several epochs fit, the earliest one is assumed, because every rank
 * computed by a later definition includes the effect of the record.
 */
function appliedRecord(
  record: BoardRecord,
  at: { readonly epoch: number; readonly version: number; readonly lastEpoch: number },
  { epochs, judgements, rankChanges, refused }: BoardFacts,
): AppliedRecord {
  const by = (hash: string): Pick<AppliedRecord, 'hash' | 'outcome'> => ({
    hash,
    outcome: judgements.get(hash)?.outcomes.get(record.id) ?? NONE,
  });
  const rankChange = rankChanges.get(record.id);
  if (rankChange !== undefined)
    return {
      ...record,
      rankChange,
      version: versionOf(rankChange),
      ...by(hashOf(rankChange.generation)),
    };
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
