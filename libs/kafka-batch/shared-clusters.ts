import type { Cluster } from './cluster.js';

interface Shared {
  readonly cluster: Cluster;
  readonly connected: Promise<void>;
  users: number;
}

/** The right to use a cluster until it is released. */
export interface Lease {
  readonly cluster: Cluster;
  /** Call after a failure: later users get another cluster, with new connections and metadata. */
  retire(): void;
  /** The last user disconnects it. */
  release(): Promise<void>;
}

/** Keeps at most `most` clusters, besides retired ones. A new user gets the one with the fewest users. */
export class SharedClusters {
  readonly #open = new Set<Shared>();

  constructor(
    private readonly create: () => Cluster,
    private readonly most: number,
  ) {}

  async lease(): Promise<Lease> {
    const shared = this.#open.size < this.most ? this.#add() : this.#leastUsed();
    shared.users += 1;
    const retire = () => void this.#open.delete(shared);
    let isReleased = false;
    const release = async () => {
      if (!isReleased) shared.users -= 1;
      isReleased = true;
      if (shared.users > 0) return;
      retire();
      await shared.cluster.disconnect();
    };
    try {
      await shared.connected;
      return { cluster: shared.cluster, retire, release };
    } catch (error) {
      retire();
      await release();
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
