import { planWith, type Plan } from './plan.js';

/** What every `npm test` runs, with a random plan beside it: each fault at least once. */
export const BOUNDED_PLANS: readonly Plan[] = [
  planWith(1, [
    'kill-worker',
    'zombie',
    'swallow-redis',
    'flush-scripts',
    'add-worker',
    'restore-redis',
    'lose-unpublished',
    'terminate-worker',
    'leave-transaction-open',
  ]),
  planWith(100, [
    'cut-kafka',
    'delay-redis',
    'empty-redis',
    'freeze-redis',
    'break-kafka',
    'fail-over',
    'zombie-through-loss',
    'swallow-kafka',
  ]),
  planWith(4, [
    'freeze-kafka',
    'coordinator-errors',
    'fill-memory',
    'cut-redis',
    'restart-redis',
    'delay-kafka',
    'lose-while-healing',
    'break-redis',
    'kill-while-healing',
    'kill-kafka',
    'lose-without-kafka',
  ]),
];
