import { decimalColumns, decimalText, type Column } from '#board';
import type { Leader } from '#contracts';
import { ByteReader } from '../layout/bytes.js';
import type {
  DeadLetterEntry,
  LeaderChangeVerdict,
  RankChangeVerdict,
  Verdict,
} from '../layout/types.js';

/** The kinds of lua/includes/verdict.lua. */
const HEAD = 0;
const CHANGE = 1;
const LEADERS = 2;

/** The columns in the head of a view: verdicts can be read without the board's definition. */
export function columnsText(columns: readonly Column[]): string {
  return JSON.stringify(columns.map(({ name, order, decimals }) => ({ name, order, decimals })));
}

/**
 * Reads members of an outbox, as lua/includes/verdict.lua writes them. In each member, leader
 * changes follow all other verdicts. A player record that was settled in several calls has several
 * members; their rank changes become one.
 */
export function parseVerdicts(members: readonly Buffer[]): Verdict[] {
  const verdicts: Verdict[] = [];
  let lastChange: RankChangeVerdict | undefined;
  for (const member of members) {
    for (const verdict of new VerdictReader(new ByteReader(member)).verdicts()) {
      if (verdict.kind !== 'rankChange') {
        verdicts.push(verdict);
      } else if (verdict.offset === lastChange?.offset) {
        lastChange.changes += `,${verdict.changes}`;
      } else {
        lastChange = verdict;
        verdicts.push(verdict);
      }
    }
  }
  return verdicts;
}

/** The head of the verdicts of one view. */
interface ViewHead {
  readonly generation: string;
  readonly columns: readonly ColumnHead[];
  readonly view: string;
  readonly version: number;
  readonly hasCompetitionRanks: boolean;
  readonly namesPassed: boolean;
  /** How the JSON of a movement begins if the player had a rank before. */
  readonly ranked: string;
  /** How the JSON of a movement begins if the player had no rank before. */
  readonly unranked: string;
}

/** `json` is the text in front of each value of the column. */
interface ColumnHead extends Column {
  readonly json: string;
}

/** Copies a joined text. V8 keeps a joined text as a tree of parts, and each use walks the tree. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

class VerdictReader {
  readonly #heads = new Map<number, ViewHead>();
  readonly #verdicts: Verdict[] = [];

  constructor(private readonly bytes: ByteReader) {}

  verdicts(): Verdict[] {
    const { bytes } = this;
    while (!bytes.isAtEnd) {
      const kind = bytes.uint8();
      if (kind === HEAD) {
        const number = bytes.uint16();
        this.#heads.set(number, this.#head());
      } else if (kind === CHANGE) {
        this.#addChange(bytes.double());
      } else if (kind === LEADERS) {
        this.#verdicts.push(this.#leaderChange(bytes.double()));
      } else {
        this.#verdicts.push(this.#deadLetter(bytes.double()));
      }
    }
    return this.#verdicts;
  }

  #head(): ViewHead {
    const { bytes } = this;
    const generation = bytes.text();
    const stored = JSON.parse(bytes.text()) as Column[];
    const columns = stored.map((column, index) => {
      const begin = index > 0 ? '",' : ',"columns":{';
      const name = JSON.stringify(column.name);
      return { ...column, json: flat(`${begin}${name}:"`) };
    });
    const view = bytes.text();
    const version = bytes.double();
    const hasCompetitionRanks = bytes.uint8() === 1;
    const namesPassed = bytes.uint8() === 1;
    const begin = `{"view":${JSON.stringify(view)},"version":${version},"before":`;
    return {
      generation,
      columns,
      view,
      version,
      hasCompetitionRanks,
      namesPassed,
      ranked: flat(`${begin}{"rank":`),
      unranked: flat(`${begin}null,"after":`),
    };
  }

  #readHead(): ViewHead {
    const number = this.bytes.uint16();
    const head = this.#heads.get(number);
    if (head === undefined) throw new Error(`the outbox has a verdict without head ${number}`);
    return head;
  }

  /**
   * Adds a movement to the rank change of its event. For speed, joins texts to JSON and makes no
   * objects.
   */
  #addChange(offset: number): void {
    const { bytes } = this;
    const head = this.#readHead();
    const rankBefore = bytes.double();
    const rankAfter = bytes.double();
    let before = '';
    let after = '';
    for (const column of head.columns) {
      before += column.json + decimalText(column, bytes.double());
      after += column.json + decimalText(column, bytes.double());
    }
    if (head.hasCompetitionRanks) {
      before = `,"competitionRank":${bytes.double()}${before}`;
      after = `,"competitionRank":${bytes.double()}${after}`;
    }

    const begin =
      rankBefore === 0 ? head.unranked : `${head.ranked}${rankBefore}${before}"}},"after":`;
    const end = rankAfter === 0 ? 'null' : `{"rank":${rankAfter}${after}"}}`;
    const overtook = head.namesPassed ? this.#overtook() : '';
    const movement = `${begin}${end}${overtook}}`;

    const last = this.#verdicts.at(-1);
    if (last?.kind === 'rankChange' && last.offset === offset) {
      last.changes += `,${movement}`;
    } else {
      const { generation } = head;
      this.#verdicts.push({ kind: 'rankChange', offset, generation, changes: movement });
    }
  }

  /** Reads the passed players. Each has lost one rank. */
  #overtook(): string {
    const count = this.bytes.uint8();
    if (count === 0) return '';

    const passed = [];
    for (let i = 0; i < count; i++) {
      const rankAfter = this.bytes.double();
      const playerId = this.bytes.text();
      passed.push({ playerId, rankBefore: rankAfter - 1, rankAfter });
    }
    return `,"overtook":${JSON.stringify(passed)}`;
  }

  #leaderChange(offset: number): LeaderChangeVerdict {
    const { bytes } = this;
    const { generation, columns, view, version } = this.#readHead();
    const since = bytes.double();
    const top = linesOf(bytes.text());
    const before = linesOf(bytes.text());
    return {
      kind: 'leaderChange',
      offset,
      generation,
      view,
      version,
      since: Number.isNaN(since) ? null : since,
      top: top.map((line, index) => parseLeader(line, index + 1, columns)),
      before: before.map((line) => line.slice(line.indexOf('\t') + 1)),
    };
  }

  #deadLetter(offset: number): DeadLetterEntry {
    const code = this.bytes.text();
    const detail = this.bytes.text();
    return { kind: 'deadLetter', offset, code, detail };
  }
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

/** Reads a line of a leader report: lua/includes/leaders.lua. */
function parseLeader(line: string, rank: number, columns: readonly Column[]): Leader {
  const tab = line.indexOf('\t');
  const playerId = line.slice(tab + 1);
  const fields = line.slice(0, tab).split(' ');
  const numbers = fields.map(Number);
  const competitionRank = numbers[0] ?? rank;
  const values = numbers.slice(1);
  return { playerId, rank, competitionRank, columns: decimalColumns({ columns }, values) };
}
