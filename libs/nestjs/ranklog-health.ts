import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { primariesOf, requirePrimary } from '#board-store';
import { RANKLOG_OPTIONS, type RanklogModuleOptions } from './options.js';
import { ResultSubscriptions } from './result-subscriptions.js';

const ANSWER_TIMEOUT_MS = 2_000;

/**
 * The result of a health indicator of @nestjs/terminus. `problems` is missing if there are none.
 */
export interface RanklogHealthResult {
  readonly status: 'up' | 'down';
  readonly problems?: readonly string[];
}

/**
 * A health indicator. It needs no @nestjs/terminus, which accepts it: `health.check([() =>
 * ranklog.isHealthy('ranklog')])`.
 */
@Injectable()
export class RanklogHealth {
  constructor(
    @Inject(RANKLOG_OPTIONS) private readonly options: RanklogModuleOptions,
    @Inject(ResultSubscriptions) private readonly subscriptions: ResultSubscriptions,
  ) {}

  /**
   * `down` if Redis does not answer within 2 s or is a replica, or if a subscription has ended with
   * an error. Never rejects.
   */
  async isHealthy<Key extends string>(key: Key): Promise<Record<Key, RanklogHealthResult>> {
    const ended = [...this.subscriptions.failures].map(
      ([groupId, error]) => `the subscription of group ${groupId} has ended: ${String(error)}`,
    );
    const problems = [...(await this.#redisProblems()), ...ended];
    const result: RanklogHealthResult =
      problems.length === 0 ? { status: 'up' } : { status: 'down', problems };
    return { [key]: result } as Record<Key, RanklogHealthResult>;
  }

  async #redisProblems(): Promise<string[]> {
    const late = delay(ANSWER_TIMEOUT_MS, `no answer within ${ANSWER_TIMEOUT_MS} ms`, {
      ref: false,
    });
    const primaries = primariesOf(this.options.redis);
    if (primaries.length === 0) return ['Redis: no node of the cluster is connected'];
    const answers = Promise.all(primaries.map((server) => requirePrimary(server)));
    const problem = await Promise.race([answers.then(() => undefined), late]).catch(String);
    return problem === undefined ? [] : [`Redis: ${problem}`];
  }
}
