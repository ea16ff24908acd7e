import type { Redis } from 'ioredis';
import type { BoardDefinition } from '#board';
import type { KeySpace, Verdict } from '#board-store';
import type { GenerationsModel } from './generations-model.js';
import { KafkaDefinitions } from './kafka-definitions.js';
import { LiveRun } from './live-run.js';
import type { Scenario } from './scenario.js';
import { ScenarioLog } from './scenario-log.js';
import { Subscriber } from './subscriber.js';

/** Shared by builders and live ingest: the store, the log and the model. */
export class Sandbox {
  readonly shards: number;
  readonly log: ScenarioLog;
  readonly live: LiveRun;
  readonly kafka: KafkaDefinitions;
  readonly subscriber = new Subscriber();

  constructor(
    readonly redis: Redis,
    readonly keys: KeySpace,
    readonly scenario: Scenario,
  ) {
    this.shards = scenario.shards;
    this.log = new ScenarioLog(scenario);
    const published = this.#published.bind(this);
    this.live = new LiveRun({ redis, keys, shards: this.shards, log: this.log, published });
    this.kafka = new KafkaDefinitions(scenario.variants.map(([first]) => first!));
  }

  get model(): GenerationsModel {
    return this.live.model.generations;
  }

  get boards(): string[] {
    return this.scenario.variants.map(([first]) => first!.board);
  }

  readonly shardOf = (board: string) => this.live.store.shardOf(board);

  variants(board: string): readonly BoardDefinition[] {
    return this.scenario.variants.find(([first]) => first!.board === board)!;
  }

  endChains(board: string): void {
    const { partitions } = this.log;
    const unpublished = Array.from({ length: partitions }, (_, partition) => {
      const { outbox } = this.live.model.partition(this.shardOf(board), partition);
      return outbox.map(({ offset }) => `${partition} ${offset}`);
    });
    this.subscriber.endChains(board, unpublished.flat());
  }

  #published(partition: number, verdict: Verdict): void {
    const target = this.log.target(partition, verdict.offset);
    const isChained =
      this.scenario.keyed && target !== undefined && this.variants(target.board).every(tellsAll);
    this.subscriber.take({ partition, isChained, ...target }, verdict);
  }
}

/** Whether every movement on a board is published. */
function tellsAll({ publish }: BoardDefinition): boolean {
  const { rankChanges, windows, dimensions } = publish;
  return rankChanges === 'every' && windows === undefined && dimensions === undefined;
}
