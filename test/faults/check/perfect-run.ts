import { parseBoardsFile, type BoardDefinition } from '#board';
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

/** Versions are later than this many us since 1970, when the records are written. */
const BEGIN = Date.parse('2026-11-20T00:00:00Z') * 1_000;

/**
 * Random records of three partitions, and the results that they ask for, told by the oracle. With `lostTail`, Redis loses
 * that many events of partition 0 which were applied and not told; `loss` is when.
 */
export function perfectRun(
  records: number,
  { lostTail = 0 }: { lostTail?: number } = {},
): BreakableFacts & { readonly loss: number } {
  const definitions = parseBoardsFile(BOARDS, 'boards.yaml');
  const log = randomLog(records);
  const expected = expectedOf(TOPIC, definitions, log);
  const teller = new Teller(definitions);
  const loss = tellAll(teller, interleaved(expected), lostTail);
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
  return { definitions, log, rankChanges, leaderChanges, deadLetters, consoleIds, stored, loss };
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

/** Events as three workers would take turns with their partitions. */
function interleaved({ events }: Expected): [string, ExpectedEvent][] {
  return [...events].sort(([, a], [, b]) => a.offset - b.offset || a.partition - b.partition);
}

/** Tells all events; the last ones of partition 0 in the middle of the run are applied, lost, and told later. */
function tellAll(
  teller: Teller,
  events: readonly (readonly [string, ExpectedEvent])[],
  lostTail: number,
): number {
  const middle = Math.floor(events.length / 2);
  const untold: (readonly [string, ExpectedEvent])[] = [];
  for (const [id, event] of events.slice(0, middle))
    if (event.partition === 0 && event.offset >= lostFrom(events.slice(0, middle), lostTail)) {
      teller.apply(event);
      untold.push([id, event]);
    } else teller.tell(id, event);
  const loss = teller.lose();
  for (const [id, event] of [...untold, ...events.slice(middle)]) teller.tell(id, event);
  return loss;
}

/** The first offset of the last events of partition 0. */
function lostFrom(events: readonly (readonly [string, ExpectedEvent])[], count: number): number {
  const offsets = events.flatMap(([, { partition, offset }]) => (partition === 0 ? [offset] : []));
  return count === 0 ? Infinity : (offsets.at(-count) ?? 0);
}

/** Tells what each event changed, as ranklog does. */
class Teller {
  readonly rankChanges: RankChange[] = [];
  readonly leaderChanges: LeaderChange[] = [];
  readonly #reports = new Map<string, LeaderChange>();
  readonly #told: ExpectedEvent[] = [];
  #oracle: Oracle;
  #version = BEGIN;

  constructor(private readonly definitions: readonly BoardDefinition[]) {
    this.#oracle = new Oracle(definitions);
  }

  apply({ board, event, partition }: ExpectedEvent) {
    return this.#oracle.apply(board, event, partition);
  }

  /** The boards are again as what was told makes them; answers when. */
  lose(): number {
    this.#oracle = new Oracle(this.definitions);
    for (const event of this.#told) this.apply(event);
    return ++this.#version;
  }

  tell(id: string, expected: ExpectedEvent): void {
    const { board, event, partition, offset } = expected;
    this.#told.push(expected);
    const { verdict } = this.apply(expected);
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
    const top = this.#oracle.leaders(head.board, head.view);
    const last = this.#reports.get(name);
    if (JSON.stringify(top) === JSON.stringify(last?.top ?? [])) return;
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    const change = { ...head, since: last?.version ?? null, top, ...leaderMovements(before, top) };
    this.#reports.set(name, change);
    this.leaderChanges.push(change);
  }
}
