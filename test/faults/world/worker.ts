import { RanklogProcess } from '../../support/instance.js';
import { KafkaProxy } from '../../support/kafka-proxy.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { eventually } from '../../support/eventually.js';

/** The servers behind a worker's proxies. */
export interface Targets {
  readonly kafkaPorts: readonly [number, ...number[]];
  /**
   * A port, which gets a proxy; or the URL of a cluster or of sentinels, whose clients go to
   * addresses that the servers name.
   */
  readonly redis: number | string;
}

const HOST = '127.0.0.1';

/**
 * A `ranklog start` process with proxies of its own in front of Kafka and of a single Redis.
 *
 * States: running; paused (SIGSTOP) until `resume`; ended (by a fault, or by itself, which is a
 * bug).
 */
export class Worker {
  #paused = false;
  #wasEnded = false;

  private constructor(
    readonly name: string,
    private readonly process: RanklogProcess,
    readonly kafka: KafkaProxy,
    private readonly redisProxy: TcpProxy | undefined,
  ) {}

  /** Starts a worker and waits until it runs. @throws if it ends instead */
  static async start(name: string, targets: Targets, env: NodeJS.ProcessEnv): Promise<Worker> {
    const [first, ...others] = targets.kafkaPorts;
    const address = (port: number) => ({ host: HOST, port });
    const kafka = await KafkaProxy.to(address(first), ...others.map(address));
    const redis =
      typeof targets.redis === 'number'
        ? await TcpProxy.to({ host: HOST, port: targets.redis })
        : undefined;
    const process = new RanklogProcess(['start'], {
      ...env,
      KAFKA_BROKERS: kafka.broker,
      REDIS_URL: redis === undefined ? String(targets.redis) : `redis://${HOST}:${redis.port}`,
    });
    const worker = new Worker(name, process, kafka, redis);
    await eventually(
      () => worker.count('"running:') > 0 || process.exitCode !== null,
      `worker ${name} runs`,
    );
    if (process.exitCode !== null)
      throw new Error(`worker ${name} ended at its start: ${worker.lastLines}`);
    return worker;
  }

  /** The proxy in front of Redis. @throws if Redis is a cluster or has sentinels */
  get redis(): TcpProxy {
    if (this.redisProxy === undefined) throw new Error('there is no proxy in front of Redis');
    return this.redisProxy;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && !this.#paused;
  }

  /** Its exit code or signal, if no fault ended it. */
  get unexpectedEnd(): number | string | null {
    return this.#wasEnded ? null : this.process.exitCode;
  }

  /** How often its log contains these words. */
  count(words: string): number {
    return this.process.errors.split(words).length - 1;
  }

  get log(): string {
    return this.process.errors;
  }

  get lastLines(): string {
    return this.log.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');
  }

  /**
   * Waits until the worker is about to commit a transaction, which shows that it has partitions
   * with records.
   */
  async publishes(): Promise<void> {
    const commit = this.kafka.onRequest(KAFKA_API.endTxn, { delayMs: 0 });
    await eventually(() => commit.isDone, `worker ${this.name} publishes`);
  }

  pause(): void {
    this.process.kill('SIGSTOP');
    this.#paused = true;
  }

  resume(): void {
    this.process.kill('SIGCONT');
    this.#paused = false;
  }

  /** Ends it, and returns its exit code or signal. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string | null> {
    this.#wasEnded ||= this.process.exitCode === null;
    this.process.kill(signal);
    const code = await this.process.ended;
    await Promise.all([this.kafka.close(), this.redisProxy?.close()]);
    return code;
  }

  /** Redirects its connections to the Redis at another port. */
  failOver(port: number): void {
    this.redis.cut();
    this.redis.retarget({ host: HOST, port });
    this.redis.restore();
  }
}

const LINES_SHOWN = 25;
