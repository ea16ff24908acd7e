import type { LiveBoard, SampleViolation, SampleViolationKind } from '#board-store';

/** The words about damage go here. */
export interface FindingsLog {
  info(message: string): void;
  error(message: string): void;
}

/** So many samples of a view without it, one after the other, and a kind of damage is taken to be gone. */
const ENOUGH_CLEAN = 10;

interface Finding {
  readonly board: string;
  readonly kind: SampleViolationKind;
  readonly generation: string;
  /** Where it was last seen. */
  view: string;
  clean: number;
}

/** A view that was sampled. */
export interface Sampled {
  readonly live: LiveBoard;
  readonly view: string;
}

/**
 * What is known to be damaged: told once for each board and kind, until it is gone. A sample may miss what is still
 * there, so one without it is not enough; but a generation that is live no more takes its damage with it.
 */
export class Findings {
  readonly #open = new Map<string, Finding>();

  constructor(private readonly log: FindingsLog) {}

  /** Takes note of a sample. */
  note(sampled: Sampled, violations: readonly SampleViolation[]): void {
    for (const kind of new Set(violations.map((violation) => violation.kind)))
      this.#found(
        sampled,
        violations.filter((violation) => violation.kind === kind),
      );
    for (const finding of this.#of(sampled))
      if (!violations.some(({ kind }) => kind === finding.kind)) this.#missed(finding);
  }

  /** Forgets the damage of generations that are not live. */
  keepOnly(live: ReadonlyMap<string, LiveBoard>): void {
    for (const finding of this.#open.values())
      if (live.get(finding.board)?.generation !== finding.generation)
        this.#close(finding, `generation ${finding.generation} is live no more`);
  }

  /** Views to look at again. */
  suspects(live: ReadonlyMap<string, LiveBoard>): Sampled[] {
    const views = new Map<string, Sampled>();
    for (const { board, view } of this.#open.values()) {
      const found = live.get(board);
      if (found !== undefined) views.set(`${board} ${view}`, { live: found, view });
    }
    return [...views.values()];
  }

  #found({ live, view }: Sampled, violations: readonly SampleViolation[]): void {
    const [first] = violations;
    if (first === undefined) return;
    const { board, generation } = live;
    const { kind, detail } = first;
    const open = this.#open.get(keyOf({ board, kind }));
    this.#open.set(keyOf({ board, kind }), { board, kind, generation, view, clean: 0 });
    if (open !== undefined) return;
    const more = violations.length > 1 ? `, and ${violations.length - 1} more in this sample` : '';
    this.log.error(
      `board "${board}", view "${view}": what Redis keeps does not agree (${kind}): ${detail}${more}; ` +
        `somebody has changed it: "ranklog boards verify ${board}" tells all, "ranklog boards rebuild ${board}" mends it`,
    );
  }

  #missed(finding: Finding): void {
    finding.clean += 1;
    if (finding.clean >= ENOUGH_CLEAN)
      this.#close(finding, `${ENOUGH_CLEAN} samples of view "${finding.view}" were without it`);
  }

  #close(finding: Finding, why: string): void {
    this.#open.delete(keyOf(finding));
    this.log.info(`board "${finding.board}": damage (${finding.kind}) is gone: ${why}`);
  }

  #of({ live, view }: Sampled): Finding[] {
    return [...this.#open.values()].filter(
      (finding) => finding.board === live.board && finding.view === view,
    );
  }
}

function keyOf({ board, kind }: Pick<Finding, 'board' | 'kind'>): string {
  return `${kind} ${board}`;
}
