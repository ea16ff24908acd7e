import type { RecoveryTarget } from '#board-store';

/** `partition 1 (20 of 250), 3 (0 of 90)` */
export function recoveryTargetsText(targets: readonly RecoveryTarget[]): string {
  const parts = targets.map(
    ({ partition, applied, target }) => `${partition} (${applied} of ${target})`,
  );
  return `partition ${parts.join(', ')}`;
}
