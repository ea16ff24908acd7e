import { isDeepStrictEqual } from 'node:util';
import { closeOf, parseView, type Close } from '#board';
import type { PeriodResult } from '#contracts';
import { ROUND } from '../boards.js';
import type { BoardHistory, Expected, Judgement } from './expected.js';
import { groupBy, hashOf, summary, type AnnouncementFact, type RunFacts } from './facts.js';

/**
 * Finds announcements that differ from the oracle, and windows without one. No event changes a
 * closed view, so the oracle after all events, under the definition of the announced generation, has
 * the view as it was announced. An announcement of this size is one transaction, so it has all views
 * of its window, of one generation.
 */
export function periodProblems(facts: RunFacts, { boards, oracle }: Expected): string[] {
  const { announces, announcements, definitions } = facts;
  if (!announces) {
    const ids = announcements.map(({ id }) => id);
    return summary('announcements, although the producers stamp the records', ids);
  }
  const windows = groupBy(announcements, ({ result }) => `${result.board} ${result.window}`);
  const wrong = [...windows.values()].flatMap((all) => wrongAnnouncements(all, boards));
  const names = definitions.flatMap(({ board, windows: defined }) =>
    defined.some(closeOf)
      ? windowsOf(oracle.views(board)).map((window) => `${board} ${window}`)
      : [],
  );
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
    if (judgement === undefined || close === undefined) return [`${name}: of no known definition`];
    const wanted = announcementsOf(judgement, close, first.result);
    const results = found.map(({ result }) => result);
    return [
      ...(revision === index + 1 ? [] : [`${name}: it follows ${index} others`]),
      ...found.flatMap((one) => earlyOrMisnamed(one, close)),
      ...differencesOf(name, wanted, results),
    ];
  });
}

/** The announcements of all views of a window, by the oracle. */
function announcementsOf(
  { oracle, definition }: Judgement,
  { results }: Close,
  { window, generation, revision }: PeriodResult,
): PeriodResult[] {
  const { board } = definition;
  const start = Date.parse(window.slice(`${ROUND.name}@`.length));
  const views = oracle.views(board).filter((view) => parseView(view).window === window);
  return views.map((view) => {
    const standings = oracle.standings(board, view);
    return {
      ...{ board, generation, view, window },
      start: new Date(start).toISOString(),
      end: new Date(start + ROUND.ms).toISOString(),
      revision,
      size: standings.length,
      results: standings.slice(0, results).map((standing) => {
        const { playerId, rank, competitionRank, columns } = standing;
        return { playerId, rank, competitionRank, columns };
      }),
    };
  });
}

function earlyOrMisnamed({ id, timestamp, result }: AnnouncementFact, close: Close): string[] {
  const { board, view, revision, end } = result;
  const reviewMs = close.reviewMs === 'manual' ? 0 : close.reviewMs;
  const isEarly = timestamp < Date.parse(end) + close.graceMs + reviewMs;
  return [
    ...(id === `${board}/${view}/${revision}`
      ? []
      : [`${id}: it is of ${board}/${view}/${revision}`]),
    ...(isEarly ? [`${id}: announced at ${timestamp}, before its review was over`] : []),
  ];
}

/** Compares the announcements of each view: one is wanted of each. */
function differencesOf(
  name: string,
  wanted: readonly PeriodResult[],
  found: readonly PeriodResult[],
): string[] {
  const views = new Set([...wanted, ...found].map(({ view }) => view));
  return [...views].flatMap((view) => {
    const ofView = (results: readonly PeriodResult[]) => results.filter((one) => one.view === view);
    const [oracle, announced] = [ofView(wanted), ofView(found)];
    if (isDeepStrictEqual(oracle, announced)) return [];
    return [`${name}: ${JSON.stringify(announced)} in place of ${JSON.stringify(oracle)}`];
  });
}

function windowsOf(views: readonly string[]): string[] {
  return [...new Set(views.map((view) => parseView(view).window))];
}
