import type { BoardDefinition, Update } from './definition.js';
import type { ResolvedEvent } from './resolve-event.js';
import type { ColumnState, PlayerState } from './state.js';

/**
 * The state of a player after an event, as lua/includes/merge.lua of libs/board-store computes it; undefined if a sum leaves
 * +-(2^53-1). `before` is empty for a player who was not in the view.
 */
export function stateAfter(
  { columns }: BoardDefinition,
  before: PlayerState,
  { values, occurredAt: time }: ResolvedEvent,
): PlayerState | undefined {
  /** The difference between event and state in the columns of an update, which change together; below 0: the event is better. */
  const difference = (kind: Update) => {
    const differences = columns.map(({ update }, index) => {
      return update === kind ? Number(values[index]) - Number(before[index]?.value) : 0;
    });
    return differences.find((number) => number !== 0) ?? 0;
  };
  const after = columns.map(({ update }, index): ColumnState => {
    const [old, value] = [before[index], values[index] ?? 0];
    if (update === 'sum') return sumAfter(old, value, time);
    const isKept = old && !replaces(update, difference(update), time - old.time);
    return isKept ? old : { value, time, settled: true };
  });
  return after.every(({ value }) => Number.isSafeInteger(value)) ? after : undefined;
}

function sumAfter(old: ColumnState | undefined, delta: number, time: number): ColumnState {
  const { value, settled, ...known } = old ?? { value: 0, time, settled: false };
  if (delta === 0)
    return { value, time: settled ? known.time : Math.min(known.time, time), settled };
  return { value: value + delta, time: settled ? Math.max(known.time, time) : time, settled: true };
}

function replaces(update: 'best' | 'latest', difference: number, later: number): boolean {
  return update === 'best'
    ? difference < 0 || (difference === 0 && later < 0)
    : later > 0 || (later === 0 && difference < 0);
}
