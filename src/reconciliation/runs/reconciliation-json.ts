import type { ReconciliationStatus } from '#board-store';
import { formatTime } from '#contracts';

export type ReconciliationJson = ReturnType<typeof reconciliationJson>;

/** A reconciliation as the API returns it. Times are RFC 3339. */
export function reconciliationJson(status: ReconciliationStatus) {
  const { state, startedAt, updatedAt, secondsLeft, outcome = null, equal = null } = status;
  return {
    ...status,
    secondsLeft: state === 'running' ? secondsLeft : null,
    startedAt: formatTime(startedAt),
    updatedAt: formatTime(updatedAt),
    outcome,
    equal,
  };
}
