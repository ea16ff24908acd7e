import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { BoardRegistrar } from './board-registrar.js';
import { RegistrationWatch } from './registration-watch.js';

/** The role `reconciliation`: makes the boards of the file known before anything is read from the log, and keeps them so. */
@Module({})
export class ReconciliationModule
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  static with(registrar: BoardRegistrar, watch: RegistrationWatch): DynamicModule {
    return {
      module: ReconciliationModule,
      providers: [
        { provide: BoardRegistrar, useValue: registrar },
        { provide: RegistrationWatch, useValue: watch },
      ],
    };
  }

  constructor(
    private readonly registrar: BoardRegistrar,
    private readonly watch: RegistrationWatch,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.registrar.register();
  }

  onApplicationBootstrap(): void {
    this.watch.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.watch.stop();
  }
}
