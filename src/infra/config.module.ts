import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Role } from '../config/roles.js';
import type { Settings } from '../config/settings.js';
import { Logger } from './logger.js';
import { Shutdown } from './shutdown.js';

/** What the process was started with. */
export interface ProcessOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Empty for a command other than `start`. */
  readonly roles: readonly Role[];
  /** Missing for a command other than `start`. */
  readonly shutdown?: Shutdown;
  /**
   * Missing for a command other than `start`. `waitsFor` is the reason why not all roles run yet,
   * for probes.
   */
  readonly start?: { waitsFor: string | undefined };
}

/** Injection tokens of values that have no class. */
export const PROCESS_OPTIONS = Symbol('ProcessOptions');
export const SETTINGS = Symbol('Settings');

@Global()
@Module({})
export class ConfigModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    const providers = [
      { provide: PROCESS_OPTIONS, useValue: options },
      { provide: SETTINGS, useValue: options.settings },
      { provide: Logger, useValue: options.logger },
      { provide: Shutdown, useValue: options.shutdown },
    ];
    return { module: ConfigModule, providers, exports: providers };
  }
}
