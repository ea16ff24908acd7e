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

/** The score events of the demo, a JSON text each. */
export function footballLines(): string[] {
  return gunzipSync(readFileSync(FOOTBALL_FILE)).toString('utf8').trimEnd().split('\n');
}

interface OfficialTable {
  board: string;
  ranking: {
    playerId: string;
    rank: number;
    score: number;
    goalDifference: number;
    goalsFor: number;
  }[];
}

/** How many of the 27 official tables have equal figures, and how many the same order, too. */
export async function compareWithOfficialTables(
  reader: BoardReader,
): Promise<{ figures: number; order: number }> {
  const tables = JSON.parse(
    readFileSync('demo/football/expected-standings.json', 'utf8'),
  ) as OfficialTable[];
  let figures = 0;
  let order = 0;
  for (const { board, ranking } of tables) {
    const [, league, season] = board.split('/');
    const view = `all league=${league ?? ''} season=${season ?? ''}`;
    const { entries } = await reader.standings('football', view, { offset: 0, limit: 100 });
    const found = new Map(entries.map((entry) => [entry.playerId, entry]));
    const official = new Map(ranking.map((row) => [row.playerId, row]));
    const text = ([points, goalDifference, goalsFor]: unknown[]) =>
      `${String(points)}/${String(goalDifference)}/${String(goalsFor)}`;
    const equal = [...official].every(([player, row]) => {
      const columns = found.get(player)?.columns ?? {};
      return (
        text([columns['points'], columns['goalDifference'], columns['goalsFor']]) ===
        text([row.score, row.goalDifference, row.goalsFor])
      );
    });
    if (equal && entries.length === ranking.length) figures += 1;
    if ([...official].every(([player, { rank }]) => found.get(player)?.rank === rank)) order += 1;
  }
  return { figures, order };
}
