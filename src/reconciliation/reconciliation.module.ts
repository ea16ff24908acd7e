import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { BoardRegistrar } from './board-registrar.js';

/** Something that goes on by itself while the role runs. */
export interface Activity {
  start(): void;
  /** Ends with the step in hand. */
  stop(): Promise<void>;
}

const ACTIVITIES = Symbol('activities');

/** The role `reconciliation`: makes the boards known before anything is read from the log, and then does what it does by itself. */
@Module({})
export class ReconciliationModule
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  static with(registrar: BoardRegistrar, activities: readonly Activity[]): DynamicModule {
    return {
      module: ReconciliationModule,
      providers: [
        { provide: BoardRegistrar, useValue: registrar },
        { provide: ACTIVITIES, useValue: activities },
      ],
    };
  }

  constructor(
    private readonly registrar: BoardRegistrar,
    @Inject(ACTIVITIES) private readonly activities: readonly Activity[],
  ) {}

  async onModuleInit(): Promise<void> {
    await this.registrar.register();
  }

  onApplicationBootstrap(): void {
    for (const activity of this.activities) activity.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.activities.map((activity) => activity.stop()));
  }
}
