import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { Role } from './config/roles.js';
import { ConfigModule, type ProcessOptions } from './infra/config.module.js';
import { ConnectionsModule } from './infra/connections.module.js';
import { MetricsModule } from './infra/metrics.module.js';
import { IngestModule } from './ingest/ingest.module.js';
import { OperationsModule } from './operations/operations.js';
import { QueryModule } from './query/query.module.js';
import { WritesModule } from './query/writes/writes.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';

const ROLE_MODULES: Readonly<Record<Role, Type>> = {
  ingest: IngestModule,
  reconciliation: ReconciliationModule,
  query: QueryModule,
};

/** The modules of a process with some of the roles. */
@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(options),
        ConnectionsModule,
        MetricsModule,
        OperationsModule,
        ...options.roles.map((role) => ROLE_MODULES[role]),
        ...(options.roles.includes('query') && options.settings.queryWrites ? [WritesModule] : []),
      ],
    };
  }
}
