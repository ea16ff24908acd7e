import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Role } from '../config/roles.js';
import type { Settings } from '../config/settings.js';
import { Logger } from './logger.js';
import { Shutdown } from './shutdown.js';

/** The settings, roles and services with which the process was started. */
export interface ProcessOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Empty for commands other than `start`. */
  readonly roles: readonly Role[];
  /** Only for the command `start`. */
  readonly shutdown?: Shutdown;
  /** Only for the command `start`. `waitsFor` tells probes why not all roles run yet. */
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
