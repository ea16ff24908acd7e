import { Controller, Get, Module, Param, Sse, type MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { ReconciliationJson } from './reconciliation-json.js';
import { Reconciliations } from './reconciliations.js';

@Controller('reconciliations')
export class ReconciliationsController {
  constructor(private readonly reconciliations: Reconciliations) {}

  @Get()
  all(): Promise<ReconciliationJson[]> {
    return this.reconciliations.all();
  }

  @Get(':board')
  one(@Param('board') board: string): Promise<ReconciliationJson> {
    return this.reconciliations.of(board);
  }

  /** Refuses a board without a reconciliation before the stream begins. */
  @Sse(':board/events')
  async events(@Param('board') board: string): Promise<Observable<MessageEvent>> {
    await this.reconciliations.of(board);
    return this.reconciliations.events(board);
  }
}

@Module({ controllers: [ReconciliationsController], providers: [Reconciliations] })
export class ReconciliationsModule {}
