import { rowsOf } from '../lua/scripts.js';

/**
 * A view with its number of players. `expiresAt` is in ms of the board's event clock; null: never.
 */
export interface ViewSummary {
  readonly view: string;
  readonly version: number;
  readonly expiresAt: number | null;
  readonly size: number;
}

/** Some of the views of a board, ordered by their text. */
export interface ViewsPage {
  readonly stale: boolean;
  readonly views: readonly ViewSummary[];
  /** The cursor of the next page; missing on the last page. */
  readonly next?: string;
}

/** One step of a listing. The next step needs its cursor, generation and server. */
export interface ViewsStep extends Omit<ViewsPage, 'next'> {
  readonly generation: string;
  readonly server: string;
  /** '0' if no step is left. */
  readonly cursor: string;
}

/** Reads a reply of lua/commands/views-9.lua; leaves out expired views. */
export function viewsStepOf(reply: readonly string[], generation: string) {
  const [staleText, server = '', cursor = '', clockText = '', floor, ...words] = reply;
  const stale = Number(staleText) === 1;
  const clock = clockText === '' ? -Infinity : Number(clockText);

  const views = rowsOf(words, 3).map(([view = '', version = '', end]) => ({
    view,
    version: Math.max(Number(version), Number(floor ?? 0)),
    expiresAt: end === '' ? null : Number(end),
  }));
  const existing = views.filter(({ expiresAt }) => expiresAt === null || expiresAt > clock);
  return { generation, server, cursor, stale, views: existing };
}

export function byText(a: ViewSummary, b: ViewSummary): number {
  return a.view < b.view ? -1 : 1;
}
