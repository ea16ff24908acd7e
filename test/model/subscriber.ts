import { expect } from '@jest/globals';
import { leaderMovements } from '#contracts';
import type { LeaderChangeVerdict, Verdict } from '#board-store';

type Columns = Readonly<Record<string, string>>;

/** Someone who reads all that was published, each verdict once, and builds the boards from nothing else. */
export class Subscriber {
  /** By `board view`, then by player id. */
  readonly #columns = new Map<string, Map<string, Columns>>();
  /** By `board view`. */
  readonly #leaders = new Map<string, LeaderChangeVerdict[]>();

  /** A verdict of a partition, and what the record that caused it is about; those of one partition come in order. */
  take(board: string, playerId: string, verdict: Verdict): void {
    if (verdict.kind === 'deadLetter') return;
    if (verdict.kind === 'leaderChange') {
      const name = `${board} ${verdict.view}`;
      this.#leaders.set(name, [...(this.#leaders.get(name) ?? []), verdict]);
      return;
    }
    for (const { view, after } of verdict.changes) {
      const name = `${board} ${view}`;
      const players = this.#columns.get(name) ?? new Map<string, Columns>();
      this.#columns.set(name, players.set(playerId, after.columns));
    }
  }

  /** The columns of every player of a view (`board view`), by the rank changes alone. */
  columns(view: string): Record<string, Columns> {
    return Object.fromEntries(this.#columns.get(view) ?? []);
  }

  /**
   * The top of a view by the leader changes alone, in the order of their versions. A change follows from the one before,
   * unless the store lost its memory of that (`unbroken` is false): then it tells the whole top.
   */
  leaders(view: string, { unbroken }: { unbroken: boolean }): LeaderChangeVerdict['top'] {
    const changes = (this.#leaders.get(view) ?? []).toSorted((a, b) => a.version - b.version);
    let last: LeaderChangeVerdict | undefined;
    for (const change of changes) {
      if (unbroken) expect(change.since).toBe(last?.version ?? null);
      if (change.since === null) expect(change.before).toEqual([]);
      if (last !== undefined && change.since === last.version)
        expect(change.before).toEqual(idsOf(last.top));
      expect(replayed(change.before, change.top)).toEqual(idsOf(change.top));
      last = change;
    }
    return last?.top ?? [];
  }
}

function idsOf(top: LeaderChangeVerdict['top']): string[] {
  return top.map(({ playerId }) => playerId);
}

/** A top out of the one before and what a leader change says of who left, moved and entered. */
function replayed(before: readonly string[], top: LeaderChangeVerdict['top']): string[] {
  const { entered, left, moved } = leaderMovements(before, top);
  const places = new Map(before.map((playerId, index) => [playerId, index + 1]));
  for (const { playerId, rankBefore } of left) {
    expect(places.get(playerId)).toBe(rankBefore);
    places.delete(playerId);
  }
  for (const { playerId, rankBefore, rankAfter } of moved) {
    expect(places.get(playerId)).toBe(rankBefore);
    places.set(playerId, rankAfter);
  }
  for (const { playerId, rank } of entered) places.set(playerId, rank);
  return [...places].sort(([, a], [, b]) => a - b).map(([playerId]) => playerId);
}
