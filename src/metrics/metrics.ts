import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

/** Read from Redis for each scrape. */
const STORE_GAUGES = {
  ranklog_recovery_applied_offset: {
    help: 'Next offset that a recovering partition has to apply after a loss of Redis; only during recovery.',
    labels: ['shard', 'partition'],
  },
  ranklog_recovery_target_offset: {
    help: 'Recovery target of a partition after a loss of Redis; only during recovery.',
    labels: ['shard', 'partition'],
  },
  ranklog_reads_stale: {
    help: '1 while reads of the board are stale, because Redis has lost events or may have lost some.',
    labels: ['board'],
  },
  ranklog_board_building: {
    help: '1 for a board that has no live generation yet.',
    labels: ['board'],
  },
  ranklog_generation_info: {
    help: '1 for each generation of a board. role is live, previous, shadow or snapshot; partial_history is yes if it lacks the start of the log.',
    labels: ['board', 'generation', 'role', 'partial_history'],
  },
  ranklog_reconciliation_running: {
    help: '1 while a reconciliation of the board runs, 0 after it has ended.',
    labels: ['board', 'kind'],
  },
  ranklog_reconciliation_done_records: {
    help: 'Records of the log that the running or last reconciliation has applied.',
    labels: ['board', 'kind'],
  },
  ranklog_reconciliation_total_records: {
    help: 'Records of the log that the running or last reconciliation has to apply, including those done.',
    labels: ['board', 'kind'],
  },
  ranklog_reconciliation_records_per_second: {
    help: 'Records of the log that the reconciliation applies in a second; 0 if none runs.',
    labels: ['board', 'kind'],
  },
} as const;

/** ranklog's own metrics. docs/reference/metrics.md lists them. */
export const GAUGES = {
  ranklog_redis_up: {
    help: '1 if Redis has answered this scrape; otherwise, metrics that are read from Redis are missing.',
    labels: [],
  },
  ranklog_partition_stopped: {
    help: '1 for a partition of this process that has stopped permanently or needs operator action.',
    labels: ['partition'],
  },
  ranklog_partition_stuck_seconds: {
    help: 'How long a partition of this process has had work without finishing any.',
    labels: ['partition'],
  },
  ranklog_partition_waiting: {
    help: '1 while a partition of this process waits for other partitions to recover.',
    labels: ['partition', 'reason'],
  },
  ranklog_fetch_loop_age_seconds: {
    help: 'Seconds since Kafka last answered a fetch, also with nothing, or let this process join the group.',
    labels: [],
  },
  ...STORE_GAUGES,
  ranklog_verify_equal: {
    help: '1 if the last scheduled verify of the board by this process found no difference, otherwise 0.',
    labels: ['board'],
  },
  ranklog_verify_differences: {
    help: 'Differences that the last scheduled verify of the board by this process found.',
    labels: ['board'],
  },
  ranklog_verify_last_success_timestamp_seconds: {
    help: 'When this process last completed a scheduled verify of all live boards, counting those that other processes compared in the minute before.',
    labels: [],
  },
} as const;

export const DEAD_LETTERS = {
  name: 'ranklog_dead_letters_total',
  help: 'Dead letters that this process has published. board is empty for a record without a live board.',
  labelNames: ['reason', 'board'],
} as const;

/** The metrics of the process: ranklog's own, and those of Node. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly deadLetters: Counter;
  readonly gauges: Readonly<Record<keyof typeof GAUGES, Gauge>>;

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
    const registers = [this.registry];
    const gauges = Object.entries(GAUGES).map(([name, { help, labels }]) => [
      name,
      new Gauge<string>({ name, help, labelNames: labels, registers }),
    ]);
    this.deadLetters = new Counter({ ...DEAD_LETTERS, registers });
    this.gauges = Object.fromEntries(gauges) as Record<keyof typeof GAUGES, Gauge>;
  }
  /** Removes all that was read from Redis, so that a scrape never shows old numbers as current. */
  resetStore(): void {
    for (const name of Object.keys(STORE_GAUGES) as (keyof typeof STORE_GAUGES)[])
      this.gauges[name].reset();
    this.gauges.ranklog_redis_up.set(0);
  }
}
