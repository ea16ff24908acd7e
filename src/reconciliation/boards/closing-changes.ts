import { parseView, parseWindow, type BoardDefinition } from '#board';
import { formatTime } from '#contracts';

/** An ended instance of a window, which a new definition closes at another time. */
export interface ClosingChange {
  readonly window: string;
  /** The last timestamp of a record that counts; null: all records count. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Finds instances that have ended by `now` (ms), and whose closing time differs between the live
 * definition and that of the file. `views` are the texts of existing views: instances without views
 * have no results yet.
 */
export function closingChanges(
  live: BoardDefinition,
  file: BoardDefinition,
  { views, now }: { readonly views: readonly string[]; readonly now: number },
): ClosingChange[] {
  const changes: ClosingChange[] = [];
  for (const window of new Set(views.map((view) => parseView(view).window))) {
    const before = parseWindow(live, window);
    const after = parseWindow(file, window);
    if (before === undefined || after === undefined || before.end > now) continue;
    if (before.closesAt === after.closesAt) continue;
    changes.push({ window, before: textOf(before.closesAt), after: textOf(after.closesAt) });
  }
  return changes;
}

function textOf(closesAt: number | null): string | null {
  return closesAt === null ? null : formatTime(closesAt);
}
