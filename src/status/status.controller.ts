import { Controller, Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { Redis } from 'ioredis';
import { KeySpace } from '#board-store';
import { toError } from '#kafka-batch';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { inTime, ProblemError } from '../infra/problems.js';
import { isRedisUnavailable } from '../infra/redis.js';
import { Answers } from '../standings/answers.js';
import { QUERIES } from '../standings/request-schemas.js';
import { Read } from '../standings/route.js';
import { RecentDeadLetters } from './dead-letters.js';
import { readLog, readStore, statusOf, type Status } from './status.js';

/** How long callers share a status after its read, in ms. */
const SHARED_MS = 1_000;

/** Reads the status once for all callers, and again a second after the end of the read at the earliest. */
@Injectable()
export class StatusReader {
  readonly #letters: RecentDeadLetters;
  #status: Promise<Status> | undefined;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'group'>,
  ) {
    this.#letters = new RecentDeadLetters(connection, connection.topics.deadLetters);
  }

  /** @throws ProblemError LOG_UNAVAILABLE, STORE_UNAVAILABLE; after 5 s at most */
  read(): Promise<Status> {
    return (this.#status ??= this.#read());
  }

  async #read(): Promise<Status> {
    const { connection, settings } = this;
    const log = readLog(connection, settings, this.#letters);
    const store = readStore(this.redis, this.keys).catch((error: unknown) => {
      if (!isRedisUnavailable(error)) throw error;
      // A problem, so that Answers gives no old status.
      throw new ProblemError('STORE_UNAVAILABLE', `status not read: ${toError(error).message}`);
    });
    // Kafka may go on after the problem: callers share that until a Kafka that hangs has answered.
    void Promise.allSettled([log, store]).then(() => {
      setTimeout(() => (this.#status = undefined), SHARED_MS).unref();
    });
    return statusOf(...(await Promise.all([inTime(log), store])));
  }
}

/** The state of all processes of this ranklog, for those who operate it. */
@Controller('v1/status')
@UseInterceptors(Answers)
export class StatusController {
  constructor(private readonly status: StatusReader) {}

  @Read('', 'Status', 'Partitions, boards, generations and dead letters', QUERIES.none)
  read() {
    return this.status.read();
  }
}
