import { definitionHash, parseBoardsFile, type BoardDefinition } from '#board';
import type { LeaderChange, RankChange } from '#contracts';
import { causeOf, type ReadRecord } from '../../support/results.js';
import { randomFrom } from '../../support/seeded-random.js';
import { BOARD_NAMES, boardsFile } from '../boards.js';
import { recordFrom } from '../load.js';
import { judge, readLog, type BoardRecord } from './expected.js';
import { leaderChangeId, type DeadLetterFact, type RunFacts } from './facts.js';
import { BEGIN, Reporter } from './reporter.js';

export const TOPIC = 'perfect.score-events';

/** Results as plain objects, which a test may copy and break. */
export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Plain<T[Key]> }
    : T;

/** The facts of an exact run, which a test may damage. */
export interface BreakableFacts extends RunFacts {
  readonly rankChanges: readonly Plain<RankChange>[];
  readonly leaderChanges: readonly Plain<LeaderChange>[];
}

interface RunOptions {
  /** How many events of partition 0 are applied but not published when Redis loses them. */
  readonly lostTail?: number;
  /** Boards get their second definition, are rebuilt, and changed back. */
  readonly promotions?: boolean;
}

const FIRST = parseBoardsFile(boardsFile(), 'boards.yaml');
const CHANGED = parseBoardsFile(boardsFile(BOARD_NAMES), 'boards.yaml');
const KNOWN = [...FIRST, ...CHANGED];

/** Random records of three partitions, and their exact results by the oracle. `loss`: when Redis lost the tail. */
export function perfectRun(
  records: number,
  { lostTail = 0, promotions = false }: RunOptions = {},
): BreakableFacts & { readonly loss: number } {
  const log = randomLog(records);
  const { events, bad } = readLog(TOPIC, new Set(BOARD_NAMES), log);
  const judgements = new Map(KNOWN.map((one) => [definitionHash(one), judge(one, events)]));
  const reporter = new Reporter(judgements);
  reporter.promote(FIRST);
  const loss = promotions
    ? reportWithPromotions(reporter, events)
    : reportAll(reporter, interleaved(events), lostTail);
  const { rankChanges, leaderChanges } = reporter;
  const refused = bad.map(({ id, code }): DeadLetterFact => ({ id, code }));
  const deadLetters = [...refused, ...reporter.deadLetters];
  const stored = new Map(
    FIRST.flatMap((definition) => {
      const { board } = definition;
      const oracle = judgements.get(definitionHash(definition))?.oracle;
      const views = oracle?.views(board) ?? [];
      return views.flatMap((view) =>
        oracle === undefined ? [] : [[`${board} ${view}`, oracle.bytes(board, view)] as const],
      );
    }),
  );
  const consoleIds = {
    rankChanges: rankChanges.map(causeOf),
    leaderChanges: leaderChanges.map(leaderChangeId),
    deadLetters: deadLetters.map(({ id }) => id),
  };
  const results = { rankChanges, leaderChanges, deadLetters, consoleIds };
  const given = { definitions: FIRST, known: KNOWN, promotions: reporter.promotions, log };
  return { ...given, ...results, stored, loss };
}

const PARTITIONS = 3;

function randomLog(records: number): ReadRecord[] {
  const random = randomFrom(7);
  const ends = Array.from({ length: PARTITIONS }, () => 0);
  return Array.from({ length: records }, (_, serial) => {
    const { key, value, headers } = recordFrom(random, serial);
    const partition = String(key).length % PARTITIONS;
    const offset = ends[partition] ?? 0;
    ends[partition] = offset + 1;
    return {
      ...{ partition, offset, timestamp: BEGIN / 1_000 },
      key: Buffer.from(String(key)),
      value: value === null ? null : Buffer.from(value),
      headers: headers ?? {},
    };
  });
}

/** Events of the partitions in turn. */
function interleaved(events: readonly BoardRecord[]): BoardRecord[] {
  return events.toSorted((a, b) => a.offset - b.offset || a.partition - b.partition);
}

/** Reports events in five parts with promotions in between; returns 0, because nothing is lost. */
function reportWithPromotions(reporter: Reporter, events: readonly BoardRecord[]): number {
  const all = interleaved(events);
  const size = Math.ceil(all.length / 5);
  const definitions: (readonly BoardDefinition[] | undefined)[] = [FIRST, CHANGED, CHANGED, FIRST];
  for (let part = 0; part < 5; part++) {
    for (const event of all.slice(part * size, (part + 1) * size)) reporter.report(event);
    const next = definitions[part];
    if (next !== undefined) reporter.promote(next);
  }
  return 0;
}

/** Reports all events; some of partition 0 in the middle of the run are applied, lost, and reported later. */
function reportAll(reporter: Reporter, events: readonly BoardRecord[], lostTail: number): number {
  const middle = Math.floor(events.length / 2);
  const [first, rest] = [events.slice(0, middle), events.slice(middle)];
  const from = lostFrom(first, lostTail);
  const lost: BoardRecord[] = [];
  for (const event of first)
    if (event.partition === 0 && event.offset >= from) {
      reporter.apply(event);
      lost.push(event);
    } else reporter.report(event);
  const loss = reporter.lose();
  for (const event of [...lost, ...rest]) reporter.report(event);
  return loss;
}

/** The first offset of the last events of partition 0. */
function lostFrom(events: readonly BoardRecord[], count: number): number {
  const offsets = events.flatMap(({ partition, offset }) => (partition === 0 ? [offset] : []));
  return count === 0 ? Infinity : (offsets.at(-count) ?? 0);
}
