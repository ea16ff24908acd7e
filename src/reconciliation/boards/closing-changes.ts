import { parseView, parseWindow, type BoardDefinition } from '#board';
import { formatTime } from '#contracts';

/** A window instance that has ended, and that a new definition closes at another time. */
export interface ClosingChange {
  readonly window: string;
  /** The last timestamp of a record that counts; null: any counts. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Which instances that have ended by `now` (ms) the definition of the file closes at another time
 * than the live one. `views` are the texts of existing views: other instances have no results yet.
 */
export function closingChanges(
  live: BoardDefinition,
  file: BoardDefinition,
  { views, now }: { readonly views: readonly string[]; readonly now: number },
): ClosingChange[] {
  const windows = new Set(views.map((view) => parseView(view).window));
  return [...windows].flatMap((window) => {
    const [before, after] = [parseWindow(live, window), parseWindow(file, window)];
    if (before === undefined || after === undefined || before.end > now) return [];
    if (before.closesAt === after.closesAt) return [];
    return { window, before: textOf(before.closesAt), after: textOf(after.closesAt) };
  });
}

function textOf(closesAt: number | null): string | null {
  return closesAt === null ? null : formatTime(closesAt);
}
