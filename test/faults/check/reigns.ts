import { definitionHash } from '#board';
import type { RankChange } from '#contracts';
import { causeOf } from '../../support/results.js';
import {
  hashOf,
  summary,
  versionOf,
  type PromotionFact,
  type Resync,
  type RunFacts,
} from './facts.js';

/** A time in which a board had one definition, through whichever generations. */
interface Reign {
  readonly hash: string;
  /** The first version that may have been told in it. */
  readonly since: number;
}

/** The definitions that a board has had, one after the other: by what was told, and what went live. */
export class Reigns {
  private constructor(private readonly reigns: readonly Reign[]) {}

  static of(board: string, facts: RunFacts): Reigns {
    const known = hashesOf(board, facts);
    const told = facts.rankChanges.map((change): PromotionFact => {
      return { board: change.board, generation: change.generation, since: versionOf(change) };
    });
    const marks = [...told, ...facts.promotions].filter((mark) => mark.board === board);
    marks.sort((a, b) => a.since - b.since);
    const reigns: Reign[] = [];
    for (const { generation, since } of marks) {
      const hash = hashOf(generation);
      if (known.has(hash) && reigns.at(-1)?.hash !== hash) reigns.push({ hash, since });
    }
    return new Reigns(reigns);
  }

  get count(): number {
    return this.reigns.length;
  }

  has(hash: string): boolean {
    return this.reigns.some((reign) => reign.hash === hash);
  }

  /** The reign of a version, by its place. */
  at(version: number): number {
    return Math.max(
      0,
      this.reigns.findLastIndex(({ since }) => since <= version),
    );
  }

  hash(reign: number): string {
    return this.reigns[reign]?.hash ?? '';
  }

  since(reign: number): number {
    return this.reigns[reign]?.since ?? 0;
  }
}

function hashesOf(board: string, { known }: RunFacts): Set<string> {
  const own = known.filter((definition) => definition.board === board);
  return new Set(own.map(definitionHash));
}

/** Generations that tell of what nobody defined, or at a time at which another one was live; and boards that are not live as they were last defined. */
export function generationProblems(facts: RunFacts, { resync }: Resync): string[] {
  const boards = new Map(facts.known.map(({ board }) => [board, hashesOf(board, facts)]));
  const foreign = facts.rankChanges.filter(
    ({ board, generation }) => boards.get(board)?.has(hashOf(generation)) !== true,
  );
  return [
    ...summary('rank changes of a generation that nobody defined', foreign.map(told)),
    ...summary('rank changes of a generation that was not live then', notLive(facts, resync)),
    ...summary('boards that are not as they were last defined', notCurrent(facts)),
  ];
}

function told(change: RankChange): string {
  const { board, generation } = change;
  return `${causeOf(change)} on ${board} at ${versionOf(change)}: ${generation}`;
}

/** What goes live when Redis was lost is known from the next promotion on. */
function notLive({ rankChanges, promotions }: RunFacts, resync: readonly number[]): string[] {
  return rankChanges.flatMap((change) => {
    const version = versionOf(change);
    const live = lastPromotion(promotions, change.board, version);
    const wasLost = resync.some((loss) => (live?.since ?? 0) <= loss && loss <= version);
    return wasLost || live?.generation === change.generation
      ? []
      : [`${told(change)} in place of ${live?.generation ?? 'none'}`];
  });
}

function notCurrent({ definitions, promotions }: RunFacts): string[] {
  return definitions.flatMap((definition) => {
    const last = lastPromotion(promotions, definition.board, Infinity)?.generation ?? '';
    const found = definitionHash(definition);
    return hashOf(last) === found ? [] : [`${definition.board}: ${found} in place of ${last}`];
  });
}

/** Versions are larger than the time of the promotion that they come after. */
function lastPromotion(
  promotions: readonly PromotionFact[],
  board: string,
  version: number,
): PromotionFact | undefined {
  const before = promotions.filter(
    (promotion) => promotion.board === board && promotion.since < version,
  );
  return before.reduce<PromotionFact | undefined>(
    (last, promotion) => (last !== undefined && last.since > promotion.since ? last : promotion),
    undefined,
  );
}
