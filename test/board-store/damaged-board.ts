import type { BoardDefinition, ResolvedEvent } from '#board';
import type { ComparisonCursor, Difference, Shadow, Stretch } from '#board-store';
import { Oracle } from '../model/oracle.js';
import { stretchOf } from './fixture.js';
import { endingOf, GenerationFixture } from './generation-fixture.js';
import type { TestRedis } from './test-redis.js';

/** A board with its whole log applied, to be damaged, compared and rebuilt. */
export class DamagedBoard {
  private constructor(
    readonly fixture: GenerationFixture,
    private readonly logs: readonly (readonly ResolvedEvent[])[],
  ) {}

  static async make(
    test: TestRedis,
    definition: BoardDefinition,
    logs: readonly (readonly ResolvedEvent[])[],
  ): Promise<DamagedBoard> {
    const fixture = await GenerationFixture.make(test, { definition, events: [] });
    await test.redis.persist(fixture.keys.lease(0, 'arena'));
    for (const [partition, events] of logs.entries())
      if (events.length > 0) await fixture.apply(events, { partition });
    return new DamagedBoard(fixture, logs);
  }

  get place() {
    return { keys: this.fixture.keys, shard: 0, live: this.fixture.live };
  }

  /** What the log makes of the board. */
  oracle(): Oracle {
    const oracle = new Oracle([this.fixture.live.definition]);
    for (const [partition, events] of this.logs.entries())
      for (const event of events) oracle.apply('arena', event, partition);
    return oracle;
  }

  stretches(logs = this.logs): Stretch[] {
    return logs.map((events, partition) => stretchOf(events, { partition }));
  }

  /** All differences from what the log makes of the board. */
  async differences(between?: () => Promise<readonly Stretch[]>): Promise<Difference[]> {
    const shadow = await this.fixture.begin('verify');
    const { differences } = await this.compare(shadow, between);
    await this.fixture.generations.discard(this.fixture.lease, shadow);
    return differences;
  }

  async rebuild(): Promise<void> {
    const shadow = await this.fixture.begin();
    const stretches = this.stretches();
    await this.fixture.generations.catchUp(this.fixture.lease, shadow, stretches);
    await this.fixture.makeLive(shadow, stretches, 0);
  }

  /** The differences from a shadow, the number of views, and the most views of one step. */
  async compare(shadow: Shadow, between = () => Promise.resolve<readonly Stretch[]>([])) {
    const differences = new Map<string, Difference>();
    let stretches: readonly Stretch[] = this.stretches();
    let [views, largestPage] = [0, 0];
    let cursor: ComparisonCursor | undefined;
    do {
      const outcome = await this.fixture.generations.compare(
        this.fixture.lease,
        shadow,
        stretches,
        cursor,
      );
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
