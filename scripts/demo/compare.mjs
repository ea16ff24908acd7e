// @ts-check
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../services/clone.mjs';

/**
 * @typedef {{ playerId: string, score: number, goalDifference: number, goalsFor: number, rank:
 * number }} OfficialRow
 */
/**
 * @typedef {{ board: string, name: string, tieBreak: string[], ranking: OfficialRow[] }}
 * OfficialTable
 */
/** @typedef {{ name: string, figures: boolean, order: boolean, why: string }} Comparison */

/** @returns {OfficialTable[]} the official tables that come with the data */
export function officialTables() {
  return /** @type {OfficialTable[]} */ (readJson('demo/football/expected-standings.json'));
}

/**
 * The view of a table named `football/<league>/<season>`.
 * @param {OfficialTable} table
 */
export function viewOf({ board }) {
  const [, league, season] = board.split('/');
  return `all league=${league ?? ''} season=${season ?? ''}`;
}

/**
 * Compares the football board with the official tables.
 * @param {import('#board-store').BoardReader} reader
 * @returns {Promise<{ figures: number, order: number, sentence: string, others: string[] }>} how
 * many tables have the official figures and order; the reasons of those in another order
 */
export async function compareTables(reader) {
  const results = [];
  for (const table of officialTables()) {
    const standings = await reader.standings('football', { view: viewOf(table), limit: 100 });
    results.push(compareTable(table, standings));
  }
  const figures = results.filter((result) => result.figures).length;
  const order = results.filter((result) => result.order).length;
  const sentence =
    `${figures} of ${results.length} tables have the official figures, ${order} of ` +
    `${results.length} the official order.`;
  const others = results.filter((result) => !result.order).map(({ why }) => why);
  return { figures, order, sentence, others };
}

/**
 * Compares a view with its official table: the figures of every team, and the order.
 * @param {OfficialTable} table @param {import('#board-store').Standings} standings
 * @returns {Comparison}
 */
function compareTable(table, { entries, size }) {
  const places = new Map(entries.map((entry) => [entry.playerId, entry]));
  const figures =
    size === table.ranking.length &&
    table.ranking.every(({ playerId, score, goalDifference, goalsFor }) => {
      const columns = places.get(playerId)?.columns;
      return (
        columns?.['points'] === String(score) &&
        columns['goalDifference'] === String(goalDifference) &&
        columns['goalsFor'] === String(goalsFor)
      );
    });
  const order = table.ranking.every(({ playerId, rank }) => places.get(playerId)?.rank === rank);
  return { name: table.name, figures, order, why: order ? '' : reason(table) };
}

/** @param {OfficialTable} table */
function reason({ board, name }) {
  if (board.includes('/es.'))
    return `${name}: Spain orders level teams by the matches between them (head-to-head)`;
  return `${name}: ended early, ordered by points per game`;
}

/**
 * Whether the photo-finish board equals the expected one, which was checked by hand.
 * @param {import('#board-store').Standings} standings
 */
export function photoFinishIsRight({ entries }) {
  const found = entries.map(({ playerId, rank, competitionRank, columns, reachedAt }) => ({
    playerId,
    rank,
    competitionRank,
    lap: columns['lap'],
    reachedAt,
  }));
  return JSON.stringify(found) === JSON.stringify(readJson('demo/photo-finish/expected.json'));
}

/** @param {string} file @returns {unknown} */
function readJson(file) {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
}
