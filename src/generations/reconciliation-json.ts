import type { ReconciliationStatus } from '#board-store';
import { formatTime } from '#contracts';

/** A reconciliation as the API tells it. Times are RFC 3339. */
export interface ReconciliationJson extends Omit<
  ReconciliationStatus,
  'startedAt' | 'updatedAt' | 'outcome'
> {
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly outcome: string | null;
}

/** A reconciliation in the words of the API. */
export function reconciliationJson(status: ReconciliationStatus): ReconciliationJson {
  const { startedAt, updatedAt, secondsLeft, outcome, ...same } = status;
  return {
    ...same,
    secondsLeft: status.state === 'running' ? secondsLeft : null,
    startedAt: formatTime(startedAt),
    updatedAt: formatTime(updatedAt),
    outcome: outcome ?? null,
  };
}
