import type { HealTarget } from '#board-store';

/** `partition 1 (20 of 250), 3 (0 of 90)` */
export function healTargetsText(targets: readonly HealTarget[]): string {
  const parts = targets.map(
    ({ partition, applied, target }) => `${partition} (${applied} of ${target})`,
  );
  return `partition ${parts.join(', ')}`;
}
