import { LRUCache } from 'lru-cache';
import { decimalColumns, type Column } from '#board';
import type {
  Leader,
  LeaderChangeVerdict,
  Passed,
  Placing,
  RankChangeVerdict,
  Verdict,
  ViewChange,
} from './types.js';

/** Separates the verdicts of one call. No text in a verdict has control characters of its own: see isId and DeadLetterEntry. */
const SEPARATOR = '\u001e';

/** Reads verdicts as lua/includes/verdict.lua writes them. */
export function parseVerdicts(text: string): Verdict[] {
  return text.split(SEPARATOR).map(parseVerdict);
}

/** Reads an offset, a newline, then the outcome of the record. */
function parseVerdict(text: string): Verdict {
  const lines = text.split('\n');
  const offset = Number(lines[0]);
  if (lines[1] === 'change') return parseRankChange(offset, lines);
  if (lines[1] === 'leaders') return parseLeaderChange(offset, lines);
  return { kind: 'deadLetter', offset, code: lines[2] ?? '', detail: lines.slice(3).join('\n') };
}

/** What the readers of rank changes and leader changes need of the columns, so that none needs the definition. */
export function columnsText(columns: readonly Column[]): string {
  return JSON.stringify(columns.map(({ name, order, decimals }) => ({ name, order, decimals })));
}

/** Columns by their text, which is the same in all verdicts of a generation. */
const parsedColumns = new LRUCache({
  max: 1_000,
  memoMethod: (text: string) => JSON.parse(text) as readonly Column[],
});

function parseRankChange(offset: number, lines: readonly string[]): RankChangeVerdict {
  const columns = parsedColumns.memo(lines[3] ?? '');
  const changes = lines.slice(4).map((line) => parseViewChange(line, columns));
  return { kind: 'rankChange', offset, generation: lines[2] ?? '', changes };
}

function parseViewChange(line: string, columns: readonly Column[]): ViewChange {
  const words = line.split('\t');
  const [view = '', version = '', before = '', after = ''] = words;
  const change = {
    view,
    version: Number(version),
    before: before === '-' ? null : parsePlacing(before, columns),
    after: parsePlacing(after, columns),
  };
  return words.length > 4 ? { ...change, overtook: words.slice(4).map(parsePassed) } : change;
}

/** A player who is passed falls back by one rank. */
function parsePassed(text: string): Passed {
  const space = text.indexOf(' ');
  const rankAfter = Number(text.slice(0, space));
  return { playerId: text.slice(space + 1), rankBefore: rankAfter - 1, rankAfter };
}

function parseLeaderChange(offset: number, lines: readonly string[]): LeaderChangeVerdict {
  const [, , generation = '', columnsJson = '', head = '', ...report] = lines;
  const [view = '', version = '', since = '', count = ''] = head.split('\t');
  const columns = parsedColumns.memo(columnsJson);
  const places = Number(count);
  return {
    kind: 'leaderChange',
    offset,
    generation,
    view,
    version: Number(version),
    since: since === '-' ? null : Number(since),
    top: report.slice(0, places).map((line, index) => parseLeader(line, index + 1, columns)),
    before: report
      .slice(places)
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf('\t') + 1)),
  };
}

function parseLeader(line: string, rank: number, columns: readonly Column[]): Leader {
  const tab = line.indexOf('\t');
  const [competitionRank = rank, ...values] = line.slice(0, tab).split(' ').map(Number);
  return {
    playerId: line.slice(tab + 1),
    rank,
    competitionRank,
    columns: decimalColumns({ columns }, values),
  };
}

function parsePlacing(text: string, columns: readonly Column[]): Placing {
  const [rank, competitionRank, ...values] = text.split(' ');
  const decimals = decimalColumns({ columns }, values.map(Number));
  const competition = competitionRank !== '-' && { competitionRank: Number(competitionRank) };
  return { rank: Number(rank), ...competition, columns: decimals };
}
