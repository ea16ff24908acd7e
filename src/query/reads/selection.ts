import { NoSuchViewError } from '#board';
import { InvalidReadError, type BoardReader, type CountRequest } from '#board-store';
import { parseTime } from '#board/time';
import { PARAMETERS, QUERIES, type QueryOf } from '../dto/request-schemas.js';
import { unknownParameter } from '../http/request-validation.js';

/** A query as the reader takes it: its own parameters, its view, the range `min` to `max`, and the values of `score.COLUMN`. */
type Asked<Name extends keyof typeof QUERIES> = Omit<QueryOf<Name>, 'at'> &
  CountRequest & { readonly columns: Readonly<Record<string, string>> };

const COLUMN = 'score.';
const DIMENSION = 'where.';

/** Reads a query: a name that is no parameter of any request is that of a dimension. @throws ProblemError UNKNOWN_PARAMETER */
function askedBy<Name extends keyof typeof QUERIES>(name: Name, query: QueryOf<Name>): Asked<Name> {
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
  const { at, min, max } = query as { at?: string; min?: string; max?: string };
  const isRange = min !== undefined || max !== undefined; // only then, the reader counts the players in it
  return {
    ...query,
    ...{ where: Object.fromEntries(where), columns: Object.fromEntries(columns) },
    ...{ at: momentOf(at), scores: isRange ? { min, max } : undefined },
  };
}

/** The time of a text that the schema of the request has checked. */
export function momentOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : parseTime(at);
}

/** Runs a read. If it is refused, or has a cursor, a name that is no dimension is a misspelt parameter. @throws ProblemError */
export async function readSelected<T, Name extends keyof typeof QUERIES>(
  { reader, board, name }: { reader: BoardReader; board: string; name: Name },
  query: QueryOf<Name>,
  read: (asked: Asked<Name>) => Promise<T>,
): Promise<T> {
  const asked = askedBy(name, query);
  const names = Object.keys(asked.where ?? {});
  const check = async () => {
    if (names.length === 0) return;
    const { definition } = await reader.board(board);
    const dimensions = new Set(definition.dimensions.flat());
    const unknown = names.find((dimension) => !dimensions.has(dimension));
    if (unknown === undefined) return;
    throw unknownParameter(unknown, [...Object.keys(QUERIES[name].properties), ...dimensions]);
  };
  if ('after' in query) await check();
  try {
    return await read(asked);
  } catch (error) {
    if (error instanceof NoSuchViewError || error instanceof InvalidReadError) await check();
    throw error;
  }
}
