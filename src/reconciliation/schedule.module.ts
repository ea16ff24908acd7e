import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { VerifySchedule } from './schedule.js';

/** The part of the role `reconciliation` that verifies at set times. */
@Module({})
export class ScheduleModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(schedule: VerifySchedule): DynamicModule {
    return {
      module: ScheduleModule,
      providers: [{ provide: VerifySchedule, useValue: schedule }],
    };
  }

  constructor(private readonly schedule: VerifySchedule) {}

  onApplicationBootstrap(): void {
    this.schedule.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.schedule.stop();
  }
}
