import { InvalidReadError, type BoardReader, type ViewSelection } from '#board-store';
import { NoSuchViewError } from '#board';
import { parseTime } from '#board/time';
import { unknownParameter } from '../infra/request-validation.js';
import { PARAMETERS, QUERIES } from './request-schemas.js';

type Query = Readonly<Record<string, unknown>>;

/** What a query asks for: its view, and the values of columns that it gives as `score.COLUMN`. */
export interface Selected {
  readonly selection: ViewSelection;
  readonly columns: Readonly<Record<string, string>>;
}

const COLUMN = 'score.';
const DIMENSION = 'where.';

/** Reads a query: a name that is no parameter of any request is that of a dimension. @throws ProblemError UNKNOWN_PARAMETER */
export function selected(name: keyof typeof QUERIES, query: Query): Selected {
  const own = Object.keys(QUERIES[name].properties);
  const columns: [name: string, value: string][] = [];
  const where: [name: string, value: string][] = [];
  for (const [key, value] of Object.entries(query)) {
    if (own.includes(key)) continue;
    if (PARAMETERS.has(key)) throw unknownParameter(key, own);
    if (name === 'rank' && key.startsWith(COLUMN))
      columns.push([key.slice(COLUMN.length), String(value)]);
    else where.push([key.startsWith(DIMENSION) ? key.slice(DIMENSION.length) : key, String(value)]);
  }
  const { view, window, at } = query as { view?: string; window?: string; at?: string };
  const selection = { view, window, where: Object.fromEntries(where), at: momentOf(at) };
  return { selection, columns: Object.fromEntries(columns) };
}

/** The time of a text that the schema of the request has checked. */
export function momentOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : parseTime(at);
}

/**
 * Runs a read. If the board refuses its selection, or a cursor makes the selection irrelevant, checks whether a name in `where`
 * is that of no dimension: then it is a misspelt parameter. @throws ProblemError UNKNOWN_PARAMETER
 */
export async function readSelected<T>(
  { reader, board, name }: { reader: BoardReader; board: string; name: keyof typeof QUERIES },
  query: Query,
  read: (selected: Selected) => Promise<T>,
): Promise<T> {
  const asked = selected(name, query);
  const names = Object.keys(asked.selection.where ?? {});
  const check = async () => {
    if (names.length === 0) return;
    const { definition } = await reader.board(board);
    const dimensions = new Set(definition.dimensions.flat());
    const unknown = names.find((dimension) => !dimensions.has(dimension));
    if (unknown === undefined) return;
    throw unknownParameter(unknown, [...Object.keys(QUERIES[name].properties), ...dimensions]);
  };
  if (query['after'] !== undefined) await check();
  try {
    return await read(asked);
  } catch (error) {
    if (error instanceof NoSuchViewError || error instanceof InvalidReadError) await check();
    throw error;
  }
}
