import { parseView, viewToRead, windowName, type BoardDefinition } from '#board';
import type { ViewOptions } from './usage/shared-options.js';

/** The view that the options name; where they say nothing, the overall one of `all`, else of the board's first window. */
export function viewOf(
  definition: BoardDefinition,
  { view, window, where = [], at = Date.now() }: ViewOptions,
): string {
  const asked =
    view === undefined ? { window: window ?? usualWindow(definition), where } : parseView(view);
  return viewToRead(definition, asked, at).view;
}

function usualWindow({ windows }: BoardDefinition): string {
  const usual = windows.find(({ kind }) => kind === 'all') ?? windows[0];
  return usual === undefined ? 'all' : windowName(usual);
}
