import { expect } from '@jest/globals';
import type { RankChangeVerdict } from '#board-store';

type Columns = Readonly<Record<string, string>>;

/** Whose movement a verdict tells. */
export interface Mover {
  readonly board: string;
  readonly partition: number;
  readonly playerId: string;
}

/**
 * What was published of players, as chains: what a change tells as before is what the one before told as after, also over
 * a promotion to a generation of the same definition. A chain ends where the board is another one.
 */
export class Chains {
  /** By board and partition, then by view and player. */
  readonly #columns = new Map<string, Map<string, Columns>>();

  take({ board, partition, playerId }: Mover, { changes }: RankChangeVerdict): void {
    const name = `${board} ${partition}`;
    const known = this.#columns.get(name) ?? new Map<string, Columns>();
    this.#columns.set(name, known);
    for (const { view, before, after } of changes) {
      const last = known.get(`${view}\n${playerId}`);
      if (last !== undefined) expect(before?.columns).toEqual(last);
      known.set(`${view}\n${playerId}`, after.columns);
    }
  }

  end(board: string): void {
    for (const name of this.#columns.keys())
      if (name.startsWith(`${board} `)) this.#columns.delete(name);
  }
}
