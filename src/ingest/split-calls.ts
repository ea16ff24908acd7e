import type { ApplyEntry } from '#board-store';

/** What one apply call may hold: enough to be fast, short enough that a reader never waits long behind it. */
export const MOST_ENTRIES = 500;
export const MOST_VIEW_UPDATES = 2_000;

/** A run of consecutive records of one partition; `through` is its last offset. */
export interface Run<T> {
  readonly through: number;
  readonly items: readonly T[];
}

/**
 * Cuts records in offset order into runs of at most MOST_ENTRIES entries and about MOST_VIEW_UPDATES view updates,
 * none of which straddles the published position. The last run reaches to `nextOffset` - 1, so that a batch that ends
 * in offsets without records moves the watermark over them.
 */
export function splitRuns<T extends { readonly entry: ApplyEntry }>(
  items: readonly T[],
  { published, nextOffset }: { published: number; nextOffset: number },
): Run<T>[] {
  const runs: { through: number; items: T[] }[] = [];
  let updates = 0;
  for (const item of items) {
    const { offset } = item.entry;
    const open = runs.at(-1);
    const crosses = open !== undefined && open.through < published && offset >= published;
    const cost = viewUpdates(item.entry);
    const full = open?.items.length === MOST_ENTRIES || updates + cost > MOST_VIEW_UPDATES;
    if (open === undefined || crosses || full) {
      runs.push({ through: offset, items: [item] });
      updates = cost;
    } else {
      open.items.push(item);
      open.through = offset;
      updates += cost;
    }
  }
  return extendLast(runs, nextOffset - 1, published);
}

function extendLast<T>(
  runs: { through: number; items: T[] }[],
  through: number,
  published: number,
): Run<T>[] {
  const last = runs.at(-1);
  if (last !== undefined && last.through < published && through >= published)
    runs.push({ through, items: [] });
  else if (last !== undefined) last.through = through;
  return runs;
}

function viewUpdates(entry: ApplyEntry): number {
  return entry.kind === 'event' ? entry.event.views.length : 0;
}
