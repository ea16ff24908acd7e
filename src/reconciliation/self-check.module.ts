import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { SelfCheck } from './self-check.js';

/** The part of the role `reconciliation` that looks for damage all the time. */
@Module({})
export class SelfCheckModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(selfCheck: SelfCheck): DynamicModule {
    return {
      module: SelfCheckModule,
      providers: [{ provide: SelfCheck, useValue: selfCheck }],
    };
  }

  constructor(private readonly selfCheck: SelfCheck) {}

  onApplicationBootstrap(): void {
    this.selfCheck.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.selfCheck.stop();
  }
}
