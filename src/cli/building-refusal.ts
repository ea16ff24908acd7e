import type { BoardBuildingError, ReconciliationStatus } from '#board-store';
import { CommandError, EXIT } from './exit-codes.js';
import { countText, durationText } from './quantities.js';

/** Says of a board that can't be read yet how far its build is, where that is known. */
export function buildingRefusal(
  { board, message }: BoardBuildingError,
  statuses: readonly ReconciliationStatus[],
): CommandError {
  const run = statuses.find((status) => status.board === board && status.state === 'running');
  return new CommandError(
    run === undefined ? message : `board "${board}" can't be read yet: ${progressText(run)}`,
    EXIT.no,
  );
}

function progressText(status: ReconciliationStatus): string {
  const { holder, done, total, secondsLeft } = status;
  const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`;
  return `${holder} builds it from the log, ${countText(done)} of ${countText(total)} records${left}`;
}
