import type { RankChange } from '#client';

type Movement = RankChange['changes'][number];

/** A line for each view: when, who, from which rank to which, and what the columns are now and were gained. */
export function describeMovements({ board, playerId, occurredAt, changes }: RankChange): string {
  return changes
    .map((movement) => {
      const what = `${movement.view}  ${ranks(movement)}  ${columns(movement)}`;
      return `${occurredAt}  ${board}  ${playerId}  ${what}\n`;
    })
    .join('');
}

/** `3 -> 1`, or `new -> 5`. */
export function ranks({ before, after }: Movement): string {
  return `${before === null ? 'new' : before.rank} -> ${after.rank}`;
}

function columns({ before, after }: Movement): string {
  return Object.entries(after.columns)
    .map(([name, value]) => {
      const old = before?.columns[name];
      return old === undefined || old === value
        ? `${name} ${value}`
        : `${name} ${value} (was ${old})`;
    })
    .join('  ');
}
