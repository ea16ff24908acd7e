import { formatTime, LATEST_TIME } from '#board';
import type { ViewSummary } from '#board-store';

/** A view of a listing as JSON, with a text for the time until which it is kept. */
export function viewJson({ view, size, version, expiresAt }: ViewSummary) {
  return { view, size, version, expiresAt: expiryText(expiresAt) };
}

/** The time of `expiresAt` (ms). null: never, as for times after LATEST_TIME: no event is later. */
export function expiryText(expiresAt: number | null): string | null {
  return expiresAt === null || expiresAt > LATEST_TIME ? null : formatTime(expiresAt);
}
