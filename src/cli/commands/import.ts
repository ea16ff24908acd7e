import type { BoardDefinition } from '#board';
import { CommandError, EXIT } from '../exit-codes.js';
import { compareWithBoard } from '../import/compare.js';
import { OpeningEvents, type OpeningOptions } from '../import/opening-events.js';
import { fileRows, zsetRows, type Row } from '../import/rows.js';
import { sendMissing } from '../import/send.js';
import { sizeOf } from '../lines.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';

export interface ImportOptions extends OpeningOptions {
  readonly key?: string;
  readonly round?: true;
  readonly dryRun?: true;
  readonly compare?: true;
  readonly view?: string;
  readonly allowPartialHistory?: true;
  readonly json?: true;
}

/** `ranklog import BOARD SOURCE` */
export function importScores(board: string, from: string, options: ImportOptions): Promise<number> {
  return withRedis(async (session) => {
    const { definition } = await session.reader.board(board);
    const overviews = await session.status.overviews();
    const clock = overviews.find((known) => known.board === board)?.clock ?? -Infinity;
    const at = options.at ?? (options.compare && Date.now());
    const opening = new OpeningEvents(definition, clock, { ...options, at });
    const work = options.compare ? compareWithBoard : sendMissing;
    const { code, facts } = await withRows(
      from,
      definition,
      options,
      (rows): Promise<{ code: number; facts: object }> => work(session, opening, rows, options),
    );
    const { rows, refused } = opening;
    print({ rows, refused, ...facts }, options, (answer) =>
      table(['board', board], Object.entries(answer)),
    );
    return code === EXIT.ok && refused > 0 ? EXIT.no : code;
  });
}

/** Opens a file or, by the URL of a Redis, a sorted set. @throws CommandError */
function withRows<T>(
  from: string,
  { columns }: BoardDefinition,
  { key, round }: ImportOptions,
  use: (rows: AsyncIterable<Row>) => Promise<T>,
): Promise<T> {
  if (/^rediss?:/.test(from) !== (key !== undefined))
    throw new CommandError('a Redis needs --key, and a file takes none', EXIT.usage);
  if (key === undefined) {
    sizeOf(from);
    return use(fileRows(from));
  }
  const decimals = round && Math.min(...columns.map((column) => column.decimals));
  return withRedis(({ redis }) => use(zsetRows(redis, key, decimals)), undefined, from);
}
