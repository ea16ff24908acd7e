import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  GenerationStore,
  LeaseStore,
  type CatchUpOutcome,
  type ComparisonCursor,
  type Difference,
  type Lease,
  type Shadow,
  type Stretch,
} from '#board-store';
import { Oracle } from '../model/oracle.js';
import { StoreFixture, stretchOf } from './fixture.js';
import type { TestRedis } from './test-redis.js';

/** A board with its whole log applied, and who reconciles it. */
export class DamagedBoard {
  readonly generations: GenerationStore;
  lease!: Lease;

  private constructor(
    readonly fixture: StoreFixture,
    private readonly logs: readonly (readonly ResolvedEvent[])[],
  ) {
    this.generations = new GenerationStore(fixture.redis, fixture.keys, { shards: 1 });
  }

  static async make(
    { redis, newKeys }: TestRedis,
    definition: BoardDefinition,
    logs: readonly (readonly ResolvedEvent[])[],
  ): Promise<DamagedBoard> {
    const fixture = await new StoreFixture(redis, newKeys()).register(definition);
    const board = new DamagedBoard(fixture, logs);
    board.lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
    await redis.persist(fixture.keys.lease(0, 'arena'));
    for (const [partition, events] of logs.entries())
      if (events.length > 0) await fixture.apply(events, { partition });
    return board;
  }

  get place() {
    return { keys: this.fixture.keys, shard: 0, live: this.fixture.live };
  }

  /** What the log makes of the board. */
  oracle(logs = this.logs): Oracle {
    const oracle = new Oracle([this.fixture.live.definition]);
    for (const [partition, events] of logs.entries())
      for (const event of events) oracle.apply('arena', event, partition);
    return oracle;
  }

  stretches(logs = this.logs): Stretch[] {
    return logs.map((events, partition) => stretchOf(events, { partition }));
  }

  /** All differences from what the log makes of the board. */
  async differences(between?: () => Promise<readonly Stretch[]>): Promise<Difference[]> {
    const { definition } = this.fixture.live;
    const shadow = await this.generations.begin(this.lease, { definition, purpose: 'verify' });
    const { differences } = await this.compare(shadow, between);
    await this.generations.discard(this.lease, shadow);
    return differences;
  }

  async rebuild(logs = this.logs): Promise<void> {
    const { definition } = this.fixture.live;
    const shadow = await this.generations.begin(this.lease, { definition, purpose: 'build' });
    const stretches = this.stretches(logs);
    await this.generations.catchUp(this.lease, shadow, stretches);
    endingOf(await this.generations.promote(this.lease, shadow, stretches, { graceMs: 0 }));
    this.fixture.live = (await this.fixture.store.boards()).live.get('arena')!;
  }

  /** Those of a shadow; and the most views that a step has found. */
  async compare(shadow: Shadow, between = () => Promise.resolve<readonly Stretch[]>([])) {
    const differences = new Map<string, Difference>();
    let stretches: readonly Stretch[] = this.stretches();
    let [views, largestPage] = [0, 0];
    let cursor: ComparisonCursor | undefined;
    do {
      const outcome = await this.generations.compare(this.lease, shadow, stretches, cursor);
      const step = endingOf(outcome);
      views += step.views;
      largestPage = Math.max(largestPage, step.views);
      for (const difference of step.differences)
        differences.set(JSON.stringify(difference), difference);
      cursor = step.next;
      stretches = await between();
    } while (cursor !== undefined);
    return { differences: [...differences.values()], views, largestPage };
  }
}

export function endingOf<T>(outcome: CatchUpOutcome<T>): T {
  if (outcome.status !== 'applied' || outcome.ending === undefined)
    throw new Error(`no ending: ${JSON.stringify(outcome)}`);
  return outcome.ending;
}
