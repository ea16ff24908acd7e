import { Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';

/** The connections of the process. */
export class Clients {
  constructor(
    readonly redis: Redis,
    readonly admin: Admin,
  ) {}
}

/** Closes the connections last, when the transport has finished what was in flight. */
@Module({})
export class ClientsModule implements OnApplicationShutdown {
  static with(clients: Clients): DynamicModule {
    return { module: ClientsModule, providers: [{ provide: Clients, useValue: clients }] };
  }

  constructor(private readonly clients: Clients) {}

  async onApplicationShutdown(): Promise<void> {
    await this.clients.admin.disconnect();
    this.clients.redis.disconnect();
  }
}
