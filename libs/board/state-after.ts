import type { BoardDefinition, Update } from './definition.js';
import type { ResolvedEvent } from './resolve-event.js';
import type { ColumnState, PlayerState } from './state.js';

/**
 * The state of a player after an event, as lua/includes/merge.lua of libs/board-store computes it; undefined if a sum leaves
 * +-(2^53-1). `before` is undefined for a player who was not in the view.
 */
export function stateAfter(
  { columns }: BoardDefinition,
  before: PlayerState | undefined,
  event: ResolvedEvent,
): PlayerState | undefined {
  const isTaken = (update: Update) => {
    const places = [...columns.keys()].filter((index) => columns[index]?.update === update);
    return takes(update, places, before, event);
  };
  const taken = { best: isTaken('best'), latest: isTaken('latest') };
  const after = columns.map(({ update }, index) => {
    const [old, value, time] = [before?.[index], event.values[index] ?? 0, event.occurredAt];
    if (update === 'sum') return sumAfter(old, value, time);
    return old === undefined || taken[update] ? { value, time, settled: true } : old;
  });
  return after.every(({ value }) => Number.isSafeInteger(value)) ? after : undefined;
}

function sumAfter(old: ColumnState | undefined, delta: number, time: number): ColumnState {
  const { value, settled, ...known } = old ?? { value: 0, time, settled: false };
  if (delta === 0)
    return { value, time: settled ? known.time : Math.min(known.time, time), settled };
  return { value: value + delta, time: settled ? Math.max(known.time, time) : time, settled: true };
}

/** Whether an event replaces the columns at these places, which have the update `best` or `latest`: all or none. */
function takes(
  update: Update,
  places: readonly number[],
  before: PlayerState | undefined,
  { values, occurredAt }: ResolvedEvent,
): boolean {
  const differences = places.map((at) => Number(values[at]) - Number(before?.[at]?.value));
  const order = differences.find((difference) => difference !== 0) ?? 0; // below 0: the event is better
  const time = before?.[places[0] ?? 0]?.time ?? occurredAt;
  return update === 'best'
    ? order < 0 || (order === 0 && occurredAt < time)
    : occurredAt > time || (occurredAt === time && order < 0);
}
