import { expect } from '@jest/globals';
import type { ApplyCall, Boards, Verdict } from '#board-store';
import { changesOf } from '../board-store/fixture.js';
import { oracleRecord } from './scenario-log.js';
import type { StoreModel } from './store-model.js';

/** What live ingest knows now. */
interface Known {
  readonly model: StoreModel;
  readonly boards: Boards;
}

/** The verdicts that apply calls return, compared with the model. */
export class LiveAnswers {
  /** The last version of each view, by `board view`. */
  readonly #versions = new Map<string, number>();

  /** Compares the verdicts of a call with the expected ones, and adds the new ones to the model. */
  compare(known: Known, call: ApplyCall, answered: readonly Verdict[]): void {
    const { partition, published, from, through, entries } = call;
    const { model, boards } = known;
    const kept = model.partition(call.shard, partition);
    const { appliedOffset } = kept;
    if (entries.some(({ kind, offset }) => kind === 'player' && offset > appliedOffset)) {
      this.#compareRecords(known, call, answered);
      return;
    }
    kept.published = Math.max(kept.published, published);
    kept.appliedOffset = Math.max(appliedOffset, through);
    // What an earlier generation has left of a record is dropped.
    if (through > appliedOffset)
      kept.outbox = kept.outbox.filter(({ offset }) => offset <= appliedOffset);
    if (kept.appliedOffset + 1 >= kept.target) kept.target = 0;
    kept.outbox = kept.outbox.filter(({ offset }) => offset >= kept.published);
    expect(answered).toEqual(answered.toSorted(byOffset));
    const stored = kept.outbox.filter(({ offset }) => offset >= from && offset <= through);
    const old = answered.filter(({ offset }) => offset <= appliedOffset);
    expect(old.toSorted(byOffsetAndView)).toEqual(stored.toSorted(byOffsetAndView));
    const expected = model.judge(
      entries.filter(({ offset }) => offset > appliedOffset),
      { partition, muted: kept.appliedOffset < kept.published },
    );
    const fresh = answered.filter(({ offset }) => offset > appliedOffset);
    const found = fresh.map((verdict) => asExpected(boards, verdict));
    expect(found.toSorted(byOffsetAndView)).toEqual(expected.toSorted(byOffsetAndView));
    this.#takeVersions(known, fresh);
    kept.outbox.push(...fresh);
  }

  /**
   * Compares a call with player records: the answer has the verdicts of all calls for them so far,
   * and of each record's rank changes one.
   */
  #compareRecords(known: Known, call: ApplyCall, answered: readonly Verdict[]): void {
    const { partition, published, through, isLast = false } = call;
    const { model, boards } = known;
    const kept = model.partition(call.shard, partition);
    const { appliedOffset } = kept;
    const records = call.entries.filter((entry) => entry.kind === 'player');
    const fresh = records.filter(({ offset }) => offset > appliedOffset);
    const areOpen = () =>
      fresh.some((record) =>
        model.generations.oracle(record.board).isUnsettled(record.board, oracleRecord(record)),
      );
    const wereOpen = areOpen();
    kept.published = Math.max(kept.published, published);
    const isKept = ({ offset }: Verdict) => offset >= kept.published;
    const old = kept.outbox.filter((one) => wereOpen || one.offset <= appliedOffset);
    const before = old.filter(({ offset }) => offset >= call.from && offset <= through);
    const muted = Math.max(through, appliedOffset) < kept.published;
    const expected = model.judge(fresh, { partition, muted, isLast });
    kept.appliedOffset = Math.max(appliedOffset, areOpen() ? fresh[0]!.offset - 1 : through);
    if (kept.appliedOffset + 1 >= kept.target) kept.target = 0;
    const found = partsOf(answered.map((verdict) => asExpected(boards, verdict)));
    const earlier = partsOf(before.filter(isKept).map((verdict) => asExpected(boards, verdict)));
    const isAnswered = ({ offset }: { offset: number }) => wereOpen || offset <= appliedOffset;
    expect(found).toEqual([...earlier, ...partsOf(expected.filter(isAnswered))].sort());
    this.#takeVersions(known, answered, before);
    kept.outbox = [...old.filter((one) => !before.includes(one)), ...answered].filter(isKept);
  }

  /**
   * Checks that a call gives all its verdicts on a view one version, above the versions of earlier
   * calls.
   */
  #takeVersions(
    { model, boards }: Known,
    verdicts: readonly Verdict[],
    before: readonly Verdict[] = [],
  ): void {
    const versions = new Map<string, number>();
    const old = new Set(
      before.flatMap(versionsIn).map(({ view, version }) => `${view} ${version}`),
    );
    for (const verdict of verdicts) {
      const isNew = ({ view, version }: ViewVersion) => !old.has(`${view} ${version}`);
      const fresh = versionsIn(verdict).filter(isNew);
      if (verdict.kind === 'deadLetter' || fresh.length === 0) continue;
      const board = boardOf(boards, verdict.generation)!;
      for (const { view, version } of fresh) {
        const name = `${board} ${view}`;
        expect(version).toBe(versions.get(name) ?? version);
        expect(version).toBeGreaterThan(this.#versions.get(name) ?? 0);
        versions.set(name, version);
      }
      if (verdict.kind === 'leaderChange') model.report(board, verdict);
    }
    for (const [name, version] of versions) this.#versions.set(name, version);
  }
}

interface ViewVersion {
  readonly view: string;
  readonly version: number;
}

function versionsIn(verdict: Verdict): readonly ViewVersion[] {
  if (verdict.kind === 'deadLetter') return [];
  return verdict.kind === 'leaderChange' ? [verdict] : changesOf(verdict);
}

/** The changes and other verdicts of a record, as texts in order. */
function partsOf(verdicts: readonly object[]): string[] {
  const parts = verdicts.flatMap((verdict) =>
    'changes' in verdict
      ? (verdict.changes as object[]).map((change) => ({ ...verdict, changes: [change] }))
      : [verdict],
  );
  return parts.map((part) => JSON.stringify(sorted(part))).sort();
}

/** With the names of all objects in order, and without values that JSON lacks. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]) => [name, sorted(part)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Redis draws versions from its clock. */
const UNKNOWN = { version: undefined };

/**
 * A verdict with its board in place of the generation, and without the view versions that the call
 * set. A stored verdict may be of a generation that is not live any more: that one keeps the
 * generation.
 */
function asExpected(boards: Boards, verdict: Verdict) {
  if (verdict.kind === 'deadLetter') return verdict;
  const { generation, ...fields } = verdict;
  const board = boardOf(boards, generation) ?? generation;
  if (fields.kind === 'leaderChange') return { ...fields, ...UNKNOWN, board };
  const changes = changesOf({ ...fields, generation }).map((change) => ({ ...change, ...UNKNOWN }));
  return { ...fields, changes, board };
}

function boardOf({ live }: Boards, generation: string): string | undefined {
  return [...live.values()].find((board) => board.generation === generation)?.board;
}

interface Ordered {
  readonly kind: Verdict['kind'];
  readonly offset: number;
  readonly view?: unknown;
}

/** Orders by offset; a leader change comes after the other verdicts of its event. */
function byOffset(a: Ordered, b: Ordered): number {
  return (
    a.offset - b.offset || Number(a.kind === 'leaderChange') - Number(b.kind === 'leaderChange')
  );
}

function byOffsetAndView(a: Ordered, b: Ordered): number {
  const [one, other] = [String(a.view), String(b.view)];
  return byOffset(a, b) || (one === other ? 0 : one < other ? -1 : 1);
}
