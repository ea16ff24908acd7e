import { formatTime, LATEST_TIME } from '#board';

/** When a view expires, `expiresAt` in ms; null: never. A clock never comes beyond LATEST_TIME, as no event is later. */
export function expiryText(expiresAt: number | null): string | null {
  return expiresAt === null || expiresAt > LATEST_TIME ? null : formatTime(expiresAt);
}
