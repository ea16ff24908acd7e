import type { Kafka } from 'kafkajs';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { patchKafkajs } from './kafkajs-patches.js';

export const READ_UNCOMMITTED = 0;
export const READ_COMMITTED = 1;

/**
 * Creates a Cluster: the connections to all brokers, with the client's settings. kafkajs has no
 * public method for that.
 */
export function createCluster(kafka: Kafka): Cluster {
  patchKafkajs();
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (symbol === undefined) throw new Error('kafkajs has no createCluster; install kafkajs 2.2.4');
  const create = Reflect.get(kafka, symbol) as (options: object) => Cluster;
  return create({
    isolationLevel: READ_COMMITTED,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
  });
}

interface Shared {
  readonly cluster: Cluster;
  readonly connected: Promise<void>;
  users: number;
}

/** The right to use a cluster until `release` is called. */
export class ClusterLease {
  #isReleased = false;

  constructor(
    private readonly shared: Shared,
    private readonly open: Set<Shared>,
  ) {
    shared.users += 1;
  }

  get cluster(): Cluster {
    return this.shared.cluster;
  }

  /** Call after a failure: later users get another cluster, with new connections and metadata. */
  retire(): void {
    this.open.delete(this.shared);
  }

  /** Disconnects the cluster unless it has other users. */
  async release(): Promise<void> {
    if (!this.#isReleased) this.shared.users -= 1;
    this.#isReleased = true;
    if (this.shared.users > 0) return;

    this.retire();
    await this.shared.cluster.disconnect();
  }
}

/** Opens up to `limit` clusters, besides retired ones. Further users share the least used one. */
export class SharedClusters {
  readonly #open = new Set<Shared>();

  constructor(
    private readonly create: () => Cluster,
    private readonly limit: number,
  ) {}

  async lease(): Promise<ClusterLease> {
    const shared = this.#open.size < this.limit ? this.#add() : this.#leastUsed();
    const lease = new ClusterLease(shared, this.#open);
    try {
      await shared.connected;
      return lease;
    } catch (error) {
      lease.retire();
      await lease.release();
      throw error;
    }
  }

  #add(): Shared {
    const cluster = this.create();
    const shared = { cluster, connected: cluster.connect(), users: 0 };
    this.#open.add(shared);
    return shared;
  }

  #leastUsed(): Shared {
    return [...this.#open].reduce((least, next) => (next.users < least.users ? next : least));
  }
}
