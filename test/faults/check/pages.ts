import { isDeepStrictEqual } from 'node:util';
import { parseDecimal, sortDirection, type BoardDefinition, type Column } from '#board';
import type { Standings } from '#board-store';
import type { RankChange } from '#contracts';
import { groupBy, summary } from './facts.js';

/** A page that a reader has got during the run. */
export interface PageFact extends Standings {
  /** The rank asked for first. */
  readonly from: number;
  readonly limit: number;
  /** The generation that was live before and after the read; undefined if it changed meanwhile. */
  readonly generation: string | undefined;
  readonly definition: BoardDefinition;
}

type Entry = Standings['entries'][number];

/**
 * Pages that no state of a board explains: with wrong ranks, or with other players than another
 * page of the same version, or than the rank changes of that version. Stale pages may have other
 * players.
 */
export function pageProblems(
  pages: readonly PageFact[],
  rankChanges: readonly RankChange[],
): string[] {
  const fresh = pages.filter(({ stale, version }) => !stale && version > 0);
  const ofOne = fresh.filter(({ generation }) => generation !== undefined);
  const versions = groupBy(ofOne, (page) => nameOf(page, page));
  const differing = [...versions].flatMap(([name, same]) => differences(name, same));
  return [
    ...summary('pages that are no ranking', pages.flatMap(flaws)),
    ...summary('pages of a version with different players', differing),
    ...summary('versions that decreased', decreases(fresh)),
    ...summary('pages that differ from rank changes', unpublished(versions, rankChanges)),
  ];
}

function nameOf(
  { board, generation }: Pick<PageFact, 'board' | 'generation'>,
  { view, version }: Pick<PageFact, 'view' | 'version'>,
): string {
  return `${board} ${generation} ${view} ${version}`;
}

function textOf({ board, view, version, entries, from }: PageFact): string {
  const shown = entries.map(({ rank, competitionRank, playerId, columns }) => {
    return [rank, competitionRank, playerId, ...Object.values(columns)].join(' ');
  });
  return `${board} ${view} at ${version}, from ${from}: ${shown.join('; ')}`;
}

function flaws(page: PageFact): string[] {
  const { entries, from, limit, size } = page;
  const length = Math.max(0, Math.min(limit, size - from + 1));
  const players = new Set(entries.map(({ playerId }) => playerId));
  const isRanking =
    entries.length === length &&
    players.size === length &&
    entries.every((entry, index) => {
      const before = entries[index - 1];
      return entry.rank === from + index && (before === undefined || follows(page, before, entry));
    });
  return isRanking ? [] : [textOf(page)];
}

/**
 * Whether a player may be just behind another one. Columns are unknown if the definition changed.
 */
function follows({ generation, definition }: PageFact, before: Entry, entry: Entry): boolean {
  const { competitionRank, rank } = entry;
  if (isDeepStrictEqual(before.columns, entry.columns))
    return competitionRank === before.competitionRank;
  if (competitionRank !== rank) return false;
  return generation === undefined || isBetter(definition, before, entry);
}

function isBetter({ columns }: BoardDefinition, before: Entry, entry: Entry): boolean {
  for (const column of columns) {
    const [a, b] = [before, entry].map((each) => sortValue(column, each)) as [number, number];
    if (a !== b) return a < b;
  }
  return false;
}

/** Smaller is better. */
function sortValue(column: Column, { columns }: Entry): number {
  const parsed = parseDecimal(columns[column.name] ?? '', column.decimals);
  return parsed.ok ? sortDirection(column, parsed.minor) : NaN;
}

/** Two pages of one version that have different players at the same rank. */
function differences(name: string, pages: readonly PageFact[]): string[] {
  const places = new Map<number, Entry>();
  return pages.flatMap((page) => {
    const isSame = page.entries.every((entry) => {
      const known = places.get(entry.rank) ?? entry;
      places.set(entry.rank, known);
      return known.playerId === entry.playerId && isDeepStrictEqual(known.columns, entry.columns);
    });
    return isSame ? [] : [`${name}: ${textOf(page)}`];
  });
}

function decreases(pages: readonly PageFact[]): string[] {
  const views = groupBy(pages, ({ board, view }) => `${board} ${view}`);
  return [...views].flatMap(([name, all]) =>
    all.flatMap(({ version }, index) => {
      const before = all[index - 1]?.version ?? 0;
      return before <= version ? [] : [`${name}: ${version} after ${before}`];
    }),
  );
}

/**
 * Compares the pages of a version with its last rank change: that of the last record of the call.
 */
function unpublished(
  versions: ReadonlyMap<string, readonly PageFact[]>,
  rankChanges: readonly RankChange[],
): string[] {
  const last = new Map<string, { playerId: string; after: Placing | null; offset: number }>();
  for (const change of rankChanges)
    for (const { after, ...movement } of change.changes) {
      const name = nameOf(change, movement);
      const { playerId, source } = change;
      const { offset } = source;
      if ((last.get(name)?.offset ?? -1) < offset) last.set(name, { playerId, after, offset });
    }
  return [...versions].flatMap(([name, pages]) => {
    const change = last.get(name);
    if (change === undefined) return [];
    return pages
      .filter((page) => !isExplained(page, change))
      .map((page) => `${change.playerId} ${JSON.stringify(change.after)}: ${textOf(page)}`);
  });
}

type Placing = NonNullable<RankChange['changes'][number]['after']>;

function isExplained(
  { entries, from, limit }: PageFact,
  { playerId, after }: { playerId: string; after: Placing | null },
): boolean {
  const entry = entries.find((each) => each.playerId === playerId);
  const isOnPage = after !== null && after.rank >= from && after.rank < from + limit;
  if (!isOnPage) return entry === undefined;
  return entry?.rank === after.rank && isDeepStrictEqual(entry.columns, after.columns);
}
