import { Controller, Query, UseInterceptors } from '@nestjs/common';
import { IdentityCheck } from '#board-store';
import { ReadStores } from '../../infra/connections.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { Status } from '../dto/responses.js';
import { NoQuery } from '../dto/requests.js';
import { inTime } from '../http/problems.js';
import { Read, RequireScope } from '../http/route.js';
import { Answers } from '../reads/answers.js';
import { KeptPeriods } from './periods.controller.js';
import { LogSamples, readLogStatus, readPublished, readStatus } from './read-status.js';

/** The state of all processes of this ranklog, for those who operate it. */
@Controller('v1/status')
@UseInterceptors(Answers)
export class StatusController {
  readonly #samples: LogSamples;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly stores: ReadStores,
    private readonly identity: IdentityCheck,
    periods: KeptPeriods,
  ) {
    this.#samples = new LogSamples(connection, periods);
  }

  @RequireScope('operate')
  @Read('', Status, 'Partitions, boards, generations and dead letters')
  async read(@Query() _: NoQuery) {
    const { connection, identity } = this;
    const answering = await this.stores.answering();
    const { stores, waiting } = answering;
    const published = await readPublished(connection, identity.group, stores.status);
    const allAnswer = waiting.length === 0;
    const log = inTime(readLogStatus(connection, published, this.#samples, allAnswer));
    return readStatus(answering, log);
  }
}
