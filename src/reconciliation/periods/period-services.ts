import { Inject, Injectable } from '@nestjs/common';
import { IdentityCheck } from '#board-store';
import { SETTINGS, type ProcessOptions } from '../../infra/config.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { Stores } from '../../infra/stores.js';
import { ScoreLogEnds } from './score-log-ends.js';

/** The name under which the lease of the announcer is held. No board has this name. */
export const PERIODS_LEASE = '(periods)';

/** The services with which the role, commands and HTTP read and announce closed windows. */
@Injectable()
export class PeriodServices {
  readonly logEnds: ScoreLogEnds;

  constructor(
    @Inject(Stores) readonly stores: Pick<Stores, 'store' | 'continuity' | 'leases' | 'pinned'>,
    @Inject(KafkaConnection)
    readonly connection: Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>,
    @Inject(IdentityCheck) readonly identity: Pick<IdentityCheck, 'group'>,
    @Inject(SETTINGS) private readonly settings: Pick<ProcessOptions['settings'], 'clockTolerance'>,
  ) {
    this.logEnds = new ScoreLogEnds(connection, identity.group, stores);
  }

  /** How far the clock of a broker, which stamps the records, may be behind, in ms. */
  get toleranceMs(): number {
    return this.settings.clockTolerance;
  }

  /**
   * The time in ms: the earlier of the times of this process and of Redis, so that a single clock
   * that is ahead closes no window too early.
   */
  async now(): Promise<number> {
    const { store } = this.stores;
    const server = await store.serverTime(store.shardOf(PERIODS_LEASE));
    return Math.min(Date.now(), Math.floor(server / 1_000));
  }
}
