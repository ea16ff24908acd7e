import type { ReconciliationStatus } from '#board-store';
import { formatTime } from '#contracts';

/** A reconciliation as the API returns it. Times are RFC 3339. */
export interface ReconciliationJson extends Omit<
  ReconciliationStatus,
  'startedAt' | 'updatedAt' | 'outcome'
> {
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly outcome: string | null;
}

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
