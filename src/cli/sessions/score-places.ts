import { ExpiredViewError, type BoardReader } from '#board-store';
import type { FoundScore, ScorePlace } from '../text/score-text.js';

const MOST_PLACES = 20;

/** The places that events change, or undefined if these are more than people read. */
export async function readPlacesOf(
  reader: BoardReader,
  board: string,
  records: readonly FoundScore[],
): Promise<ScorePlace[] | undefined> {
  const asked = new Map(
    records.flatMap(({ playerId, views }) =>
      views.map((view) => [`${view} ${playerId}`, { playerId, view }] as const),
    ),
  );
  if (asked.size > MOST_PLACES) return undefined;
  return Promise.all([...asked.values()].map((one) => readPlace(reader, board, one)));
}

async function readPlace(
  reader: BoardReader,
  board: string,
  { playerId, view }: Omit<ScorePlace, 'place'>,
): Promise<ScorePlace> {
  try {
    const { standing } = await reader.player(board, playerId, { view });
    const place = standing && { rank: standing.rank, columns: standing.columns };
    return { playerId, view, place };
  } catch (error) {
    if (error instanceof ExpiredViewError) return { playerId, view, place: null };
    throw error;
  }
}
