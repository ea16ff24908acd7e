import { definitionHash } from '#board';
import type { RankChange } from '#contracts';
import { causeOf } from '../../support/results.js';
import { hashOf, summary, versionOf, type PromotionFact, type RunFacts } from './facts.js';

/**
 * An epoch: the time during which one definition of a board was live, over any number of
 * generations.
 */
interface Epoch {
  /** The hash of the definition. */
  readonly hash: string;
  /** The smallest version that can belong to the epoch. */
  readonly since: number;
}

/** The epochs of a board, in order, according to its rank changes and promotions. */
export class Epochs {
  private constructor(private readonly epochs: readonly Epoch[]) {}

  static of(board: string, facts: RunFacts): Epochs {
    const known = hashesOf(board, facts);
    const reported = facts.rankChanges.map((change): PromotionFact => {
      return { board: change.board, generation: change.generation, since: versionOf(change) };
    });
    const marks = [...reported, ...facts.promotions].filter((mark) => mark.board === board);
    marks.sort((a, b) => a.since - b.since);
    const epochs: Epoch[] = [];
    for (const { generation, since } of marks) {
      const hash = hashOf(generation);
      if (known.has(hash) && epochs.at(-1)?.hash !== hash) epochs.push({ hash, since });
    }
    return new Epochs(epochs);
  }

  get count(): number {
    return this.epochs.length;
  }

  has(hash: string): boolean {
    return this.epochs.some((epoch) => epoch.hash === hash);
  }

  /** The index of the epoch to which a version belongs. */
  at(version: number): number {
    return Math.max(
      0,
      this.epochs.findLastIndex(({ since }) => since <= version),
    );
  }

  hash(epoch: number): string {
    return this.epochs[epoch]?.hash ?? '';
  }

  since(epoch: number): number {
    return this.epochs[epoch]?.since ?? 0;
  }
}

function hashesOf(board: string, { known }: RunFacts): Set<string> {
  const own = known.filter((definition) => definition.board === board);
  return new Set(own.map(definitionHash));
}

/**
 * Finds rank changes of a generation that was not live at the version of the rank change, or whose
 * definition is unknown; and boards whose live definition is not that of their last promotion.
 */
export function generationProblems(facts: RunFacts, losses: readonly number[]): string[] {
  const { definitions, known, promotions, rankChanges } = facts;
  const hashes = new Map(known.map(({ board }) => [board, hashesOf(board, facts)]));
  const foreign = rankChanges.filter(
    ({ board, generation }) => hashes.get(board)?.has(hashOf(generation)) !== true,
  );
  const notLive = rankChanges.flatMap((change) => {
    const version = versionOf(change);
    const live = lastPromotion(promotions, change.board, version);
    // After a loss of Redis, it is unknown which generation is live, until the next promotion.
    const wasLost = losses.some((loss) => (live?.since ?? 0) <= loss && loss <= version);
    return wasLost || live?.generation === change.generation
      ? []
      : [`${textOf(change)} in place of ${live?.generation ?? 'none'}`];
  });
  const notCurrent = definitions.flatMap((definition) => {
    const last = lastPromotion(promotions, definition.board, Infinity)?.generation ?? '';
    const found = definitionHash(definition);
    return hashOf(last) === found ? [] : [`${definition.board}: hash ${found}, not of ${last}`];
  });
  return [
    ...summary('rank changes of a generation with an unknown definition', foreign.map(textOf)),
    ...summary('rank changes of a generation that was not live then', notLive),
    ...summary('boards whose live definition is not that of their last promotion', notCurrent),
  ];
}

function textOf(change: RankChange): string {
  const { board, generation } = change;
  return `${causeOf(change)} on ${board} at ${versionOf(change)}: ${generation}`;
}

/** The last promotion of a board before a version. */
function lastPromotion(
  promotions: readonly PromotionFact[],
  board: string,
  version: number,
): PromotionFact | undefined {
  return promotions
    .filter((promotion) => promotion.board === board && promotion.since < version)
    .sort((a, b) => b.since - a.since)[0];
}
