import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { BoardReader } from '#board-store';

export const FOOTBALL_FILE = 'demo/football/events.ndjson.gz';

export const FOOTBALL_BOARDS = `
boards:
  football:
    columns: [{ name: points }, { name: goalDifference }, { name: goalsFor }]
    dimensions: [[], [league, season]]
`;

/** The score events of the demo as JSON texts. */
export function footballLines(): string[] {
  return gunzipSync(readFileSync(FOOTBALL_FILE)).toString('utf8').trimEnd().split('\n');
}

interface OfficialTable {
  board: string;
  ranking: (Record<'rank' | 'score' | 'goalDifference' | 'goalsFor', number> & {
    playerId: string;
  })[];
}

/** How many of the 27 official tables have equal figures, and how many the same order. */
export async function compareWithOfficialTables(
  reader: BoardReader,
): Promise<{ figures: number; order: number }> {
  const text = readFileSync('demo/football/expected-standings.json', 'utf8');
  const equal = { figures: 0, order: 0 };
  for (const { board, ranking } of JSON.parse(text) as OfficialTable[]) {
    const [, league, season] = board.split('/');
    const view = `all league=${league ?? ''} season=${season ?? ''}`;
    const { entries } = await reader.standings('football', { view, limit: 100 });
    const found = new Map(entries.map((entry) => [entry.playerId, entry]));
    const hasFigures = ({
      playerId,
      score,
      goalDifference,
      goalsFor,
    }: (typeof ranking)[number]) => {
      const columns = found.get(playerId)?.columns ?? {};
      return (
        columns['points'] === String(score) &&
        columns['goalDifference'] === String(goalDifference) &&
        columns['goalsFor'] === String(goalsFor)
      );
    };
    equal.figures += Number(entries.length === ranking.length && ranking.every(hasFigures));
    equal.order += Number(
      ranking.every(({ playerId, rank }) => found.get(playerId)?.rank === rank),
    );
  }
  return equal;
}
