import type { BoardStore, LiveBoard, SampleStore } from '#board-store';
import { RecurringTask } from '../operations/recurring-task.js';
import { Findings, type FindingsLog, type Sampled } from './self-check-findings.js';
import { RememberedViews } from './self-check-views.js';
import { WatermarkMemory, type FallenWatermark } from './self-check-watermarks.js';

/** Players, and places in the ranking, of one sample. */
const SAMPLE_SIZE = 20;
/** Views of a board that are met in one turn; one of all that were met is looked at. */
const VIEWS_A_TURN = 10;

interface Log extends FindingsLog {
  debug(message: string): void;
}

/** Where the self-check counts: a counter of prom-client, or one like it. */
interface Counter {
  inc(labels: Readonly<Record<string, string | number>>, by?: number): void;
}

export interface SelfCheckOptions {
  readonly store: Pick<BoardStore, 'boards' | 'shards'>;
  readonly samples: Pick<SampleStore, 'randomViews' | 'checkView' | 'watermarks'>;
  readonly counters: {
    readonly selfChecks: Counter;
    readonly selfCheckViolations: Counter;
    readonly selfCheckFallenWatermarks: Counter;
  };
  readonly log: Log;
  /** How often, in ms; 0 for never. */
  readonly everyMs: number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * Looks for damage all the time, and cheaply: each turn a sample of one view of one live board, of the views that are
 * known to be damaged, and the watermarks. Tells what it finds, and does nothing else. Any number of processes may do it.
 */
export class SelfCheck {
  readonly #findings: Findings;
  readonly #views = new RememberedViews();
  readonly #watermarks = new WatermarkMemory();
  readonly #random: () => number;
  readonly #turns: RecurringTask;

  constructor(private readonly options: SelfCheckOptions) {
    this.#findings = new Findings(options.log);
    this.#random = options.random ?? Math.random;
    this.#turns = new RecurringTask(() => this.#turn(), options.everyMs);
  }

  start(): void {
    if (this.options.everyMs > 0) this.#turns.start();
  }

  /** Ends with the turn in hand. */
  async stop(): Promise<void> {
    await this.#turns.stop();
  }

  /** One turn. @throws when Redis does not answer */
  async check(): Promise<void> {
    for (let shard = 0; shard < this.options.store.shards; shard++) await this.#checkShard(shard);
    const { live } = await this.options.store.boards();
    this.#findings.keepOnly(live);
    for (const suspect of this.#findings.suspects(live)) await this.#checkView(suspect);
    const chosen = await this.#choose([...live.values()]);
    if (chosen !== undefined) await this.#checkView(chosen);
  }

  async #turn(): Promise<void> {
    try {
      await this.check();
    } catch (error) {
      // Whether Redis answers is told by others; damage that makes commands fail is found by their types.
      this.options.log.debug(`a self-check failed: ${String(error)}`);
    }
  }

  async #choose(boards: readonly LiveBoard[]): Promise<Sampled | undefined> {
    const live = boards[Math.floor(this.#random() * boards.length)];
    if (live === undefined) return undefined;
    const met = await this.options.samples.randomViews(live, VIEWS_A_TURN);
    const view = this.#views.choose(live, met, this.#random());
    return view === undefined ? undefined : { live, view };
  }

  async #checkView(sampled: Sampled): Promise<void> {
    const { live, view } = sampled;
    const { board } = live;
    const { samples, counters } = this.options;
    const violations = await samples.checkView(live, view, SAMPLE_SIZE);
    counters.selfChecks.inc({ board });
    for (const { kind } of violations) counters.selfCheckViolations.inc({ board, kind });
    this.#findings.note(sampled, violations);
  }

  async #checkShard(shard: number): Promise<void> {
    const reading = await this.options.samples.watermarks(shard);
    for (const fallen of this.#watermarks.take(shard, reading)) this.#tell(fallen);
  }

  #tell({ shard, partition, before, now }: FallenWatermark): void {
    this.options.counters.selfCheckFallenWatermarks.inc({ shard, partition });
    this.options.log.error(
      `the watermark of partition ${partition} in shard ${shard} went back from ${before} to ${now}, though Redis has lost ` +
        'nothing: somebody has changed it; "ranklog boards rebuild" of a board of the shard puts it right',
    );
  }
}
