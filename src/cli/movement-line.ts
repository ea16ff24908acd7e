import type { RankChange } from '#client';

type Movement = RankChange['changes'][number];

/** A line for each view: when, who, from which rank to which, and what the columns are now and were gained. */
export function describeMovements({ board, playerId, occurredAt, changes }: RankChange): string {
  return changes
    .map((movement) => {
      const what = `${movement.view}  ${ranks(movement)}  ${columns(movement)}`.trimEnd();
      return `${occurredAt}  ${board}  ${playerId}  ${what}\n`;
    })
    .join('');
}

/** `3 -> 1`, `new -> 5`, or `3 -> out`. */
export function ranks({ before, after }: Movement): string {
  return `${before?.rank ?? 'new'} -> ${after?.rank ?? 'out'}`;
}

function columns({ before, after }: Movement): string {
  if (after === null) return '';
  return Object.entries(after.columns)
    .map(([name, value]) => {
      const old = before?.columns[name];
      return old === undefined || old === value
        ? `${name} ${value}`
        : `${name} ${value} (was ${old})`;
    })
    .join('  ');
}
