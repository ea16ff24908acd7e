import { isDeepStrictEqual } from 'node:util';
import { closeOf, parseView, type Close } from '#board';
import type { PeriodResult } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { OracleStanding } from '../../model/oracle-ranks.js';
import { ROUND } from '../boards.js';
import {
  unpublished,
  type AppliedRecord,
  type BoardHistory,
  type Expected,
  type Judgement,
} from './expected.js';
import { groupBy, hashOf, summary, type AnnouncementFact, type RunFacts } from './facts.js';
import { inOneView } from './replay.js';

/**
 * Finds announcements that differ from the oracle, and windows without one. No event changes a
 * closed view, but bans, unbans and erasures do: a view is announced as it was after those of each
 * partition up to some place, all that surely came before it among them. An announcement of this
 * size is one transaction, so it has all views of its window, of one generation: also those whose
 * players are all banned or erased.
 */
export function periodProblems(facts: RunFacts, { boards, oracle }: Expected): string[] {
  const { announces, announcements, definitions } = facts;
  if (!announces) {
    const ids = announcements.map(({ id }) => id);
    return summary('announcements, although the producers stamp the records', ids);
  }
  const windows = groupBy(announcements, ({ result }) => `${result.board} ${result.window}`);
  const wrong = [...windows.values()].flatMap((all) => wrongAnnouncements(all, boards));
  const names = definitions.flatMap(({ board, windows: defined }) => {
    if (!defined.some(closeOf)) return [];
    return windowsOf(oracle.views(board)).map((window) => `${board} ${window}`);
  });
  const missing = names.filter((name) => !windows.has(name));
  return [
    ...summary('announcements that are not those of the oracle', wrong),
    ...summary('closed windows that were not announced', missing),
  ];
}

/** The announcements of a window must have the revisions 1, 2, ..., each complete. */
function wrongAnnouncements(
  all: readonly AnnouncementFact[],
  boards: readonly BoardHistory[],
): string[] {
  const revisions = [...groupBy(all, ({ result }) => result.revision)].sort(([a], [b]) => a - b);
  return revisions.flatMap(([revision, found], index) => {
    const [first] = found;
    if (first === undefined) return [];
    const { board, window, generation } = first.result;
    const history = boards.find((one) => one.board === board);
    const judgement = history?.judgements.get(hashOf(generation));
    const close = judgement?.definition.windows.map(closeOf).find((one) => one !== undefined);
    const name = `${board} ${window}, revision ${revision} of generation ${generation}`;
    if (history === undefined || judgement === undefined || close === undefined)
      return [`${name}: of no known definition`];
    const wanted = { judgement, records: history.records, close, first };
    return [
      ...(revision === index + 1 ? [] : [`${name}: it follows ${index} others`]),
      ...found.flatMap((one) => earlyOrMisnamed(one, close)),
      ...wrongViews(name, wanted, found),
    ];
  });
}

/**
 * What a revision must be. `first`: its first announcement; the others are in the same transaction.
 */
interface Wanted {
  readonly judgement: Judgement;
  readonly records: readonly AppliedRecord[];
  readonly close: Close;
  readonly first: AnnouncementFact;
}

/** Each view has one announcement, which is possible. */
function wrongViews(name: string, wanted: Wanted, found: readonly AnnouncementFact[]): string[] {
  const { first, judgement } = wanted;
  const { board, window } = first.result;
  const own = judgement.oracle.views(board).filter((view) => parseView(view).window === window);
  const views = new Set([...own, ...found.map(({ result }) => result.view)]);
  return [...views].flatMap((view) => {
    const announced = found.map(({ result }) => result).filter((one) => one.view === view);
    let last: PeriodResult[] = [];
    for (const standings of own.includes(view) ? possibleStandings(wanted, view) : []) {
      last = [resultOf(wanted, view, standings)];
      if (isDeepStrictEqual(announced, last)) return [];
    }
    return [`${name}: ${JSON.stringify(announced)} in place of ${JSON.stringify(last)}`];
  });
}

function resultOf(
  { judgement, close, first }: Wanted,
  view: string,
  standings: readonly OracleStanding[],
): PeriodResult {
  const { generation, window, revision } = first.result;
  const start = startOf(window);
  return {
    ...{ board: judgement.definition.board, generation, view, window },
    start: new Date(start).toISOString(),
    end: new Date(start + ROUND.ms).toISOString(),
    revision,
    size: standings.length,
    results: standings.slice(0, close.results).map((standing) => {
      const { playerId, rank, competitionRank, columns } = standing;
      return { playerId, rank, competitionRank, columns };
    }),
  };
}

/**
 * The standings of a closed view after the player records of each partition that may have been
 * applied then.
 */
function* possibleStandings(wanted: Wanted, view: string): Generator<OracleStanding[]> {
  const { judgement, records } = wanted;
  const moving = records.filter(
    (record) => 'player' in record && judgement.outcomes.get(record.id)?.moved.includes(view),
  );
  const partitions = groupBy(moving, ({ partition }) => partition);
  let all: ReadonlyMap<number, number>[] = [new Map()];
  for (const [partition, own] of partitions) {
    const ends = possibleEnds(wanted, own);
    all = all.flatMap((some) => ends.map((end) => new Map([...some, [partition, end]])));
  }
  for (const ends of all) yield standingsAt(wanted, view, ends);
}

/**
 * The offsets of a partition up to which its player records may have been applied; `own` are those
 * that move the view, in order. Surely all are that had been written before the window closed, as
 * the announcer waits for their results, or that were applied in the review.
 */
function possibleEnds({ close, first }: Wanted, own: readonly AppliedRecord[]): number[] {
  const closed = startOf(first.result.window) + ROUND.ms + close.graceMs;
  const reviewed = closed + reviewMsOf(close);
  const sure = own.filter(
    ({ timestamp, version }) => timestamp <= closed || version <= reviewed * 1_000,
  );
  const possible = own.filter(({ timestamp }) => timestamp <= first.timestamp);
  const counts = Array.from(
    { length: possible.length - sure.length + 1 },
    (_, index) => sure.length + index,
  );
  return counts.map((count) => own[count]?.offset ?? Infinity);
}

function standingsAt(
  { judgement: { definition, outcomes }, records }: Wanted,
  view: string,
  ends: ReadonlyMap<number, number>,
): OracleStanding[] {
  const { board } = definition;
  const oracle = new Oracle([definition]);
  for (const record of records.toSorted((a, b) => a.offset - b.offset)) {
    const { partition, offset } = record;
    const outcome = outcomes.get(record.id);
    if ('player' in record) {
      if (offset < (ends.get(partition) ?? Infinity)) oracle.join(board, record.player);
    } else if (outcome?.event !== undefined && outcome.changed.includes(view))
      oracle.apply(board, unpublished(inOneView(outcome.event, view)), partition);
  }
  return oracle.standings(board, view);
}

function startOf(window: string): number {
  return Date.parse(window.slice(`${ROUND.name}@`.length));
}

function reviewMsOf({ reviewMs }: Close): number {
  return reviewMs === 'manual' ? 0 : reviewMs;
}

function earlyOrMisnamed({ id, timestamp, result }: AnnouncementFact, close: Close): string[] {
  const { board, view, revision, end } = result;
  const isEarly = timestamp < Date.parse(end) + close.graceMs + reviewMsOf(close);
  return [
    ...(id === `${board}/${view}/${revision}`
      ? []
      : [`${id}: it is of ${board}/${view}/${revision}`]),
    ...(isEarly ? [`${id}: announced at ${timestamp}, before its review was over`] : []),
  ];
}

function windowsOf(views: readonly string[]): string[] {
  return [...new Set(views.map((view) => parseView(view).window))];
}
