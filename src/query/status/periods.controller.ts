import { Controller, Inject, Injectable, Param, Query, UseInterceptors } from '@nestjs/common';
import { canClose } from '#board';
import { BoardReader, IdentityCheck } from '#board-store';
import { SETTINGS, type ProcessOptions } from '../../infra/config.module.js';
import { ReadStores } from '../../infra/connections.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import {
  listPeriods,
  periodJson,
  type BoardPeriods,
} from '../../reconciliation/periods/period-list.js';
import { PeriodServices } from '../../reconciliation/periods/period-services.js';
import { BoardParams, PeriodsQuery } from '../dto/requests.js';
import { Periods } from '../dto/responses.js';
import { inTime } from '../http/problems.js';
import { Read, RequireScope } from '../http/route.js';
import { Answers } from '../reads/answers.js';
import { KeptSample } from './kept-sample.js';

/** The periods of all boards, for reads over HTTP. */
@Injectable()
export class KeptPeriods extends KeptSample<BoardPeriods[]> {
  constructor(
    stores: ReadStores,
    connection: KafkaConnection,
    identity: IdentityCheck,
    @Inject(SETTINGS) settings: ProcessOptions['settings'],
  ) {
    super(() => listPeriods(new PeriodServices(stores, connection, identity, settings)));
  }
}

@Controller('v1/boards')
@UseInterceptors(Answers)
export class PeriodsController {
  constructor(
    private readonly reader: BoardReader,
    private readonly kept: KeptPeriods,
  ) {}

  /** Those with the latest ends, the latest one first. */
  @RequireScope('read')
  @Read(':board/periods', Periods, 'The closing windows of a board and their announcements')
  async periods(@Param() { board }: BoardParams, @Query() { limit = 100 }: PeriodsQuery) {
    const { definition } = await this.reader.board(board);
    const all = canClose(definition) ? await inTime(this.kept.get()) : [];
    const found = all.find((one) => one.board === board);
    const periods = found?.periods.slice(-limit).reverse() ?? [];
    return { board, stale: found?.isStale ?? false, periods: periods.map(periodJson) };
  }
}
