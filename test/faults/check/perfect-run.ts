import { parseBoardsFile } from '#board';
import { leaderMovements, type LeaderChange, type RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import { causeOf, type ReadRecord } from '../../support/results.js';
import { randomFrom } from '../../support/seeded-random.js';
import { BOARDS } from '../boards.js';
import { recordFrom } from '../load.js';
import { expectedOf, type Expected, type ExpectedEvent } from './expected.js';
import { leaderChangeId, type DeadLetterFact, type RunFacts } from './facts.js';

export const TOPIC = 'perfect.score-events';

/** Results as plain objects, which a test may copy and break. */
export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Plain<T[Key]> }
    : T;

/** What a run without a fault leaves behind. */
export interface BreakableFacts extends RunFacts {
  readonly rankChanges: readonly Plain<RankChange>[];
  readonly leaderChanges: readonly Plain<LeaderChange>[];
}

/** Random records of three partitions, and the results that they ask for, told by the oracle. */
export function perfectRun(records: number): BreakableFacts {
  const definitions = parseBoardsFile(BOARDS, 'boards.yaml');
  const log = randomLog(records);
  const expected = expectedOf(TOPIC, definitions, log);
  const teller = new Teller(new Oracle(definitions));
  for (const [id, event] of interleaved(expected)) teller.tell(id, event);
  const { rankChanges, leaderChanges } = teller;
  const deadLetters: DeadLetterFact[] = [...expected.deadLetters].map(([id, [code = '']]) => ({
    id,
    code,
  }));
  const stored = new Map(
    definitions.flatMap(({ board }) =>
      expected.oracle
        .views(board)
        .map((view) => [`${board} ${view}`, expected.oracle.bytes(board, view)] as const),
    ),
  );
  const consoleIds = {
    rankChanges: rankChanges.map(causeOf),
    leaderChanges: leaderChanges.map(leaderChangeId),
    deadLetters: deadLetters.map(({ id }) => id),
  };
  return { definitions, log, rankChanges, leaderChanges, deadLetters, consoleIds, stored };
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
      ...{ partition, offset, timestamp: Date.parse('2026-11-20T00:00:00Z') },
      key: Buffer.from(String(key)),
      value: value === null ? null : Buffer.from(value),
      headers: headers ?? {},
    };
  });
}

/** Events as three workers would take turns with their partitions. */
function interleaved({ events }: Expected): [string, ExpectedEvent][] {
  return [...events].sort(([, a], [, b]) => a.offset - b.offset || a.partition - b.partition);
}

/** Tells what each event changed, as ranklog does. */
class Teller {
  readonly rankChanges: RankChange[] = [];
  readonly leaderChanges: LeaderChange[] = [];
  readonly #reports = new Map<string, LeaderChange>();
  #version = 1_000;

  constructor(private readonly oracle: Oracle) {}

  tell(id: string, { board, event, partition, offset }: ExpectedEvent): void {
    const { verdict } = this.oracle.apply(board, event, partition);
    if (verdict?.kind !== 'rankChange') return;
    const version = ++this.#version;
    const source = { topic: id.split('/')[0] ?? '', partition, offset };
    const occurredAt = new Date(event.occurredAt).toISOString();
    const common = { board, generation: 'g', source, occurredAt };
    const changes = verdict.changes.map((change) => ({ ...change, version }));
    this.rankChanges.push({ ...common, playerId: event.playerId, changes });
    for (const { view } of changes) this.#tellLeaders({ ...common, view, version });
  }

  #tellLeaders(head: Omit<LeaderChange, 'since' | 'top' | 'entered' | 'left' | 'moved'>): void {
    const name = `${head.board} ${head.view}`;
    const top = this.oracle.leaders(head.board, head.view);
    const last = this.#reports.get(name);
    if (JSON.stringify(top) === JSON.stringify(last?.top ?? [])) return;
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    const change = { ...head, since: last?.version ?? null, top, ...leaderMovements(before, top) };
    this.#reports.set(name, change);
    this.leaderChanges.push(change);
  }
}
