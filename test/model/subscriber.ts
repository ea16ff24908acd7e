import { expect } from '@jest/globals';
import { leaderMovements } from '#contracts';
import type { LeaderChangeVerdict, Verdict } from '#board-store';
import { changesOf } from '../board-store/fixture.js';

type Columns = Readonly<Record<string, string>>;

/** The record that caused a verdict: its partition, and its board and player if it is an event. */
interface Cause {
  readonly partition: number;
  readonly board?: string;
  readonly playerId?: string;
  /** Whether every movement on the board is published, with the movements of a player in order. */
  readonly isChained: boolean;
}

/**
 * Reads all that was published, each verdict once, and builds the boards from nothing else.
 *
 * The rank changes of a player in a view are a chain: each one begins with the columns that the
 * previous one ended with, also after a promotion to a generation of the same definition. A chain
 * ends where a generation with other content may go live, the board is removed, or Redis loses
 * data: results of the old content that are published only then are of no chain.
 */
export class Subscriber {
  readonly #taken = new Set<string>();
  /** By `board view`, then by player id. */
  readonly #columns = new Map<string, Map<string, Columns | null>>();
  /** The same columns, without those of chains that ended. */
  readonly #chains = new Map<string, Map<string, Columns | null>>();
  /** Records of ended chains, `partition offset`. */
  readonly #ended = new Set<string>();
  /** By `board view`. */
  readonly #leaders = new Map<string, LeaderChangeVerdict[]>();

  /** Takes a verdict; the verdicts of a partition come in order. */
  take({ partition, board, playerId, isChained }: Cause, verdict: Verdict): void {
    const view = verdict.kind === 'leaderChange' ? verdict.view : '';
    const id = `${partition} ${verdict.offset} ${view}`;
    // A record has at most one rank change or dead letter, and one leader change in each view.
    expect(this.#taken).not.toContain(id);
    this.#taken.add(id);
    if (verdict.kind === 'deadLetter' || board === undefined || playerId === undefined) return;
    if (verdict.kind === 'leaderChange') {
      const name = `${board} ${view}`;
      this.#leaders.set(name, [...(this.#leaders.get(name) ?? []), verdict]);
      return;
    }
    for (const change of changesOf(verdict)) {
      const name = `${board} ${change.view}`;
      const last = this.#chains.get(name)?.get(playerId);
      const before = change.before?.columns ?? null;
      if (isChained && last !== undefined) expect(before).toEqual(last);
      for (const known of [this.#columns, this.#chains]) {
        const players = known.get(name) ?? new Map<string, Columns | null>();
        known.set(name, players.set(playerId, change.after?.columns ?? null));
      }
      if (this.#ended.has(`${partition} ${verdict.offset}`))
        this.#chains.get(name)!.delete(playerId);
    }
  }

  /**
   * Ends the chains of a board. `unpublished` are the records whose results are still to be
   * published, as `partition offset`.
   */
  endChains(board: string, unpublished: Iterable<string>): void {
    for (const record of unpublished) this.#ended.add(record);
    for (const name of this.#chains.keys())
      if (name.startsWith(`${board} `)) this.#chains.delete(name);
  }

  /** The columns of every player of a view (`board view`), by the rank changes alone. */
  columns(view: string): Record<string, Columns> {
    const all = [...(this.#columns.get(view) ?? [])];
    return Object.fromEntries(all.filter((one): one is [string, Columns] => one[1] !== null));
  }

  /**
   * The top of a view by the leader changes alone, in the order of their versions. A change follows
   * from the previous change. If the store has lost data (`unbroken` is false), a change may have
   * no `since`: then all players of its top have entered.
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

/** Computes a top from the previous top and the players who left, moved and entered. */
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
