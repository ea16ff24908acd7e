import { expect } from '@jest/globals';
import type { ApplyCall, Boards, LiveBoard, Verdict } from '#board-store';
import { changesOf } from '../board-store/fixture.js';
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
    kept.published = Math.max(kept.published, published);
    kept.appliedOffset = Math.max(appliedOffset, through);
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

  /** Checks that a call gives all its verdicts on a view one version, above the versions of earlier calls. */
  #takeVersions({ model, boards }: Known, verdicts: readonly Verdict[]): void {
    const versions = new Map<string, number>();
    for (const verdict of verdicts) {
      if (verdict.kind === 'deadLetter') continue;
      const { board } = liveBoard(boards, verdict.generation);
      for (const { view, version } of verdict.kind === 'leaderChange'
        ? [verdict]
        : changesOf(verdict)) {
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

/** Redis draws versions from its clock. */
const UNKNOWN = { version: undefined };

/** A verdict with its board in place of the generation, and without the view versions that the call set. */
function asExpected(boards: Boards, verdict: Verdict) {
  if (verdict.kind === 'deadLetter') return verdict;
  const { generation, ...fields } = verdict;
  const { board } = liveBoard(boards, generation);
  if (fields.kind === 'leaderChange') return { ...fields, ...UNKNOWN, board };
  const changes = changesOf({ ...fields, generation }).map((change) => ({ ...change, ...UNKNOWN }));
  return { ...fields, changes, board };
}

function liveBoard({ live }: Boards, generation: string): LiveBoard {
  const found = [...live.values()].find((board) => board.generation === generation);
  if (found === undefined) throw new Error(`no board has the generation ${generation}`);
  return found;
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
