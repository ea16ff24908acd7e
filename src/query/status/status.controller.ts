import { Controller, Inject, UseInterceptors } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { IdentityCheck, KeySpace, StoreStatus } from '#board-store';
import { READS } from '../../infra/connections.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { QUERIES } from '../dto/request-schemas.js';
import { inTime } from '../http/problems.js';
import { Read } from '../http/route.js';
import { Answers } from '../reads/answers.js';
import { LogSamples, readLogStatus, readPublished, readStatus } from './status.js';

/** The state of all processes of this ranklog, for those who operate it. */
@Controller('v1/status')
@UseInterceptors(Answers)
export class StatusController {
  readonly #samples: LogSamples;

  constructor(
    private readonly connection: KafkaConnection,
    @Inject(READS) private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly identity: IdentityCheck,
  ) {
    this.#samples = new LogSamples(connection);
  }

  @Read('', 'Status', 'Partitions, boards, generations and dead letters', QUERIES.none)
  async read() {
    const { connection, identity } = this;
    const store = new StoreStatus(this.redis, this.keys);
    const published = await readPublished(connection, identity.group, store);
    const log = inTime(readLogStatus(connection, published, this.#samples));
    return readStatus(this.redis, this.keys, log);
  }
}
