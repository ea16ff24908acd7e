import { parseObject } from '#contracts';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { ProgressBar } from '../text/progress-bar.js';
import { HashedMap } from './hashed-map.js';
import type { Row } from './rows.js';

/** How many rows are named on standard error. */
const MAX_NAMED = 10;

/**
 * Reads all rows, and refuses them if a player has several. Such rows may be events, and an opening
 * event would count only one of them.
 * @throws CommandError
 */
export async function refuseRepeatedPlayers(
  rows: AsyncIterable<Row>,
  board: string,
  signal: AbortSignal,
): Promise<void> {
  using bar = new ProgressBar('rows checked', 0);
  const seen = new HashedMap();
  let checked = 0;
  let repeated = 0;
  for await (const { place, event } of rows) {
    checked += 1;
    if (checked % 1_000 === 0) {
      signal.throwIfAborted();
      bar.update(checked);
    }

    const playerId = 'json' in event ? playerOf(event.json, board) : undefined;
    if (playerId === undefined) continue;
    if (seen.get(playerId) === undefined) {
      seen.set(playerId, checked);
      continue;
    }
    repeated += 1;
    if (repeated <= MAX_NAMED)
      bar.writeLine(`${place}: player ${JSON.stringify(playerId)} has an earlier row`);
  }
  if (repeated === 0) return;
  throw new CommandError(
    `there are several rows of a player (${repeated} rows too many), and nothing was sent: ` +
      'import takes one score per player; send events with "ranklog produce", and import the ' +
      'scores of several periods or sources one by one, each with an --id',
    EXIT.no,
  );
}

/** The player of a row's JSON; undefined if the row names another board, or no player. */
function playerOf(json: string, board: string): string | undefined {
  const { playerId, board: own = board } = parseObject(json) ?? {};
  return typeof playerId === 'string' && (own ?? board) === board ? playerId : undefined;
}
