import { parseTime, timeInZone, windowsAt, type BoardDefinition, type ResolvedEvent } from '#board';
import type { BoardReader } from '#board-store';
import type { From } from '../../reconciliation/runs/shadow-plan.js';
import { CommandError, EXIT } from './exit-codes.js';
import type { TimeText } from './options.js';

type Zoned = Pick<BoardDefinition, 'timeZone'>;

/** The time of an option in ms. Without a zone, it is in the time zone of the board. */
export function timeOn({ timeZone }: Zoned, text: TimeText): number {
  return parseTime(text) ?? timeInZone(text, timeZone);
}

/** The options of a read with their time in ms. */
export async function withTime<Options extends { readonly at?: TimeText }>(
  reader: Pick<BoardReader, 'board'>,
  board: string,
  options: Options,
): Promise<Omit<Options, 'at'> & { readonly at?: number }> {
  const { at, ...others } = options;
  if (at === undefined) return others;
  const { definition } = await reader.board(board);
  return { ...others, at: timeOn(definition, at) };
}

/** @throws CommandError for a time in the future */
export function pastTimeOn(definition: Zoned, text: TimeText): number {
  const time = timeOn(definition, text);
  if (time <= Date.now()) return time;
  throw new CommandError(`${text} is in the future; use an earlier time`, EXIT.usage);
}

/**
 * Where builds of boards begin. Boards that are built together begin at the same time.
 * @throws CommandError for a time in the future, and for a time without a zone if the boards have
 * several zones
 */
export function fromOn(definitions: readonly Zoned[], text: string | undefined): From | undefined {
  if (text === undefined || text === 'start') return text;
  const zones = new Set(definitions.map(({ timeZone }) => timeZone));
  if (zones.size > 1 && parseTime(text) === undefined)
    throw new CommandError(
      `--from ${text} has no zone, and the boards have several: ${[...zones].join(', ')}; use ` +
        'a time with a zone',
      EXIT.usage,
    );
  const [timeZone = 'UTC'] = zones;
  return pastTimeOn({ timeZone }, text);
}

/** Whether at a time some windows of an accepted event have closed, and others have not. */
export function isPartlyLate(
  definition: BoardDefinition,
  { views, occurredAt }: ResolvedEvent,
  now: number,
): boolean {
  if (views.length === 0) return false;
  const windows = windowsAt(definition, occurredAt);
  return windows.some((instance) => now > (instance?.closesAt ?? Infinity));
}
