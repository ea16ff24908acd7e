// To add a metric: its name, labels (few values) and help text go into one of the lists below. Fill
// it in src/operations/metrics-collector.ts, where `StoreReader` reads facts from Redis, or count
// where the work is done. Facts that Redis lacks go into libs/board-store first. Add its row to
// docs/reference/metrics.md, which a spec compares.

import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics that are read from Redis for each scrape: help texts by name and labels. */
const STORE_GAUGES = {
  'ranklog_recovery_applied_offset{shard,partition}':
    'Next offset that a recovering partition has to apply after a loss of Redis; only during ' +
    'recovery.',
  'ranklog_recovery_target_offset{shard,partition}':
    'Recovery target of a partition after a loss of Redis; only during recovery.',
  'ranklog_reads_stale{board}': '1 while reads are stale: Redis has lost events, or may have.',
  'ranklog_board_building{board}': '1 for a board that has no live generation yet.',
  'ranklog_generation_info{board,generation,role,partial_history}':
    '1 for each generation of a board. role is live, previous, shadow or snapshot; ' +
    'partial_history is yes if it lacks the start of the log.',
  'ranklog_reconciliation_running{board,kind}':
    '1 while a reconciliation of the board runs, 0 after it has ended.',
  'ranklog_reconciliation_done_records{board,kind}':
    'Records of the log that the running or last reconciliation has applied.',
  'ranklog_reconciliation_total_records{board,kind}':
    'Records of the log that the running or last reconciliation has to apply, including those ' +
    'done.',
  'ranklog_reconciliation_records_per_second{board,kind}':
    'Records of the log that the reconciliation applies in a second; 0 if none runs.',
} as const;

/** ranklog's own gauges. docs/reference/metrics.md lists these and the other metrics. */
export const GAUGES = {
  ranklog_redis_up:
    '1 if Redis has answered this scrape, else the metrics read from it are missing.',
  'ranklog_partition_stopped{partition}':
    '1 for a partition of this process that has stopped permanently or needs operator action.',
  'ranklog_partition_stuck_seconds{partition}':
    'How long a partition of this process has had work without finishing any.',
  'ranklog_partition_waiting{partition,reason}':
    '1 while a partition of this process waits for other partitions to recover.',
  'ranklog_partition_lag_records{partition}':
    'Offsets of a partition of this process that are not applied yet, up to the end of the log ' +
    'at the last fetch.',
  'ranklog_partition_lag_seconds{partition}':
    'Age of the oldest record that a partition of this process has not applied, by its time in ' +
    'Kafka; 0 without lag.',
  ranklog_outbox_results:
    'Results that this process has applied but not published. A result above 4 KiB counts as ' +
    'several.',
  ranklog_streams: 'Open streams of rank changes and standings (server-sent events).',
  ranklog_fetch_loop_age_seconds: 'Seconds since Kafka answered a fetch, or a join of the group.',
  ...STORE_GAUGES,
  'ranklog_verify_equal{board}':
    '1 if the last scheduled verify of the board by this process found no difference, otherwise 0.',
  'ranklog_verify_differences{board}':
    'Differences that the last scheduled verify of the board by this process found.',
  'ranklog_period_overdue_seconds{board}':
    'How long the oldest result of a closed window of the board has been due without being ' +
    'announced; 0 if none is.',
  'ranklog_periods_missed{board}':
    'Closed windows of the board that expired before they were announced, for 30 days after that.',
  ranklog_verify_last_success_timestamp_seconds:
    'When this process last completed a scheduled verify of all live boards, counting those ' +
    'that other processes compared in the minute before.',
} as const;

export const COUNTERS = {
  'ranklog_events_total{board}':
    'Score events of live boards that this process has applied, whatever came of them.',
  'ranklog_results_total{topic,board}':
    'Results that this process has published. board is empty for a record without a live board.',
  'ranklog_dead_letters_total{reason,board}':
    'Dead letters that this process has published. board is empty for a record without a live ' +
    'board.',
  'ranklog_late_events_total{board}':
    'Score events of boards with late: count that this process has left out, because all their ' +
    'windows had closed.',
  'ranklog_player_records_total{board,kind}':
    'Player records of live boards that this process has applied; kind is banned, unbanned or ' +
    'erased.',
  'ranklog_misplaced_records_total{reason,board}':
    "Score events that this process has applied, with another key or partition than Kafka's " +
    'default; reason is key or partition.',
  ranklog_rebalances_total: 'How often this process has joined the consumer group.',
  'ranklog_redis_errors_total{error}':
    'Commands to Redis that failed. error is the first word of an error reply, or connection.',
  'ranklog_kafka_errors_total{error}':
    'Requests to Kafka, and connections, that failed. error is the name in the protocol of ' +
    'Kafka, or in kafkajs.',
  'ranklog_query_cache_requests_total{result}':
    'Reads over HTTP that the cache of answers could answer: hit, or miss: Redis is read, or ' +
    'the request refused. Misses share a running read.',
} as const;

export const HISTOGRAMS = {
  ranklog_apply_duration_seconds: 'Round trips of the apply script, in Redis and the network.',
  ranklog_publish_duration_seconds: 'Transactions that publish results and a position.',
  'ranklog_http_request_duration_seconds{method,route,code}':
    'Complete answers over HTTP. route is the template of the path, empty if none matches.',
} as const;

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type NameOf<Key> = Key extends `${infer Name}{${string}` ? Name : Key;
type All<Table, Metric> = { readonly [Key in keyof Table as NameOf<Key>]: Metric };
type Config = Record<'name' | 'help', string> & { labelNames: string[]; registers: Registry[] };

/** The metrics of the process: ranklog's own, and those of Node. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly gauges = this.#all(GAUGES, (config) => new Gauge(config));
  readonly counters = this.#all(COUNTERS, (config) => new Counter(config));
  readonly histograms = this.#all(HISTOGRAMS, (config) => new Histogram({ ...config, buckets }));

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
  }

  #all<Table extends object, Metric>(table: Table, create: (config: Config) => Metric) {
    const metrics = Object.entries(table).map(([key, help]: [string, string]) => {
      const [name = '', ...labelNames] = key.match(/\w+/g) ?? [];
      return [name, create({ name, help, labelNames, registers: [this.registry] })];
    });
    return Object.fromEntries(metrics) as All<Table, Metric>;
  }

  /** Removes the values from Redis, so that a scrape never shows old numbers as current. */
  resetStore(): void {
    for (const key of Object.keys(STORE_GAUGES)) {
      const name = key.replace(/\{.*/, '') as NameOf<keyof typeof STORE_GAUGES>;
      this.gauges[name].reset();
    }
    this.gauges.ranklog_redis_up.set(0);
  }
}
