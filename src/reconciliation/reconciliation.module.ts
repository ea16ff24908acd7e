import { Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { BoardRegistrar } from './board-registrar.js';

/** The role `reconciliation`: makes the boards of the file known before anything is read from the log. */
@Module({})
export class ReconciliationModule implements OnModuleInit {
  static with(registrar: BoardRegistrar): DynamicModule {
    return {
      module: ReconciliationModule,
      providers: [{ provide: BoardRegistrar, useValue: registrar }],
    };
  }

  constructor(private readonly registrar: BoardRegistrar) {}

  async onModuleInit(): Promise<void> {
    await this.registrar.register();
  }
}
