import type { BoardDefinition, ResolvedEvent, Update } from '#board';

/**
 * What the oracle knows of a player in a view: a value (in sort direction) and a time for each
 * column.
 */
export type OracleState = readonly OracleColumn[];
export interface OracleColumn {
  readonly value: number;
  readonly time: number;
  /** False for a sum that has seen no delta but 0. */
  readonly settled: boolean;
}

const LIMIT = 2n ** 53n - 1n;

/**
 * The state after an event, by the rules of updates and reach times in docs/guide.md. `before` is
 * undefined for a new player. Returns `outOfRange` if a sum would leave +-(2^53-1).
 */
export function updatedState(
  definition: BoardDefinition,
  before: OracleState | undefined,
  event: ResolvedEvent,
): OracleState | 'outOfRange' {
  const bestTaken = takesBest(definition, before, event);
  const latestTaken = takesLatest(definition, before, event);
  const after = definition.columns.map(({ update }, index) => {
    const old = before?.[index];
    if (update === 'sum') return updatedSum(old, event.values[index] ?? 0, event.occurredAt);
    const taken = update === 'best' ? bestTaken : latestTaken;
    return taken || old === undefined ? submission(event, index) : old;
  });
  return after.some(({ value }) => BigInt(value) > LIMIT || BigInt(value) < -LIMIT)
    ? 'outOfRange'
    : after;
}

function updatedSum(old: OracleColumn | undefined, delta: number, time: number): OracleColumn {
  if (old === undefined) return { value: delta, time, settled: delta !== 0 };
  if (delta === 0)
    return old.settled ? old : { value: 0, time: Math.min(old.time, time), settled: false };
  return {
    // Number rounds a sum beyond 2^53, but never to something within the limit.
    value: Number(BigInt(old.value) + BigInt(delta)),
    time: old.settled ? Math.max(old.time, time) : time,
    settled: true,
  };
}

/**
 * Whether the `best` columns take the event: the better submission wins, and of two equal ones the
 * earlier.
 */
function takesBest(
  definition: BoardDefinition,
  before: OracleState | undefined,
  event: ResolvedEvent,
): boolean {
  const columns = columnsOf(definition, 'best');
  if (before === undefined || columns.length === 0) return true;
  const comparison = compareSubmission(columns, event, before);
  return comparison < 0 || (comparison === 0 && event.occurredAt < before[columns[0]!]!.time);
}

/**
 * Whether the `latest` columns take the event: the later submission wins, and of two at one time
 * the better.
 */
function takesLatest(
  definition: BoardDefinition,
  before: OracleState | undefined,
  event: ResolvedEvent,
): boolean {
  const columns = columnsOf(definition, 'latest');
  if (before === undefined || columns.length === 0) return true;
  const { time } = before[columns[0]!]!;
  if (event.occurredAt !== time) return event.occurredAt > time;
  return compareSubmission(columns, event, before) < 0;
}

/**
 * Negative when the event's values are the better ones: smaller is better, the first column that
 * differs decides.
 */
function compareSubmission(
  columns: readonly number[],
  event: ResolvedEvent,
  before: OracleState,
): number {
  const differences = columns.map((index) =>
    Math.sign(Number(BigInt(event.values[index]!) - BigInt(before[index]!.value))),
  );
  return differences.find((difference) => difference !== 0) ?? 0;
}

function columnsOf({ columns }: BoardDefinition, wanted: Update): number[] {
  return columns.flatMap(({ update }, index) => (update === wanted ? [index] : []));
}

function submission({ values, occurredAt }: ResolvedEvent, index: number): OracleColumn {
  return { value: values[index]!, time: occurredAt, settled: true };
}
