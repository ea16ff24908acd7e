import { describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';
import { SILENT } from '../../test/support/loggers.js';
import { IngestModule } from '../ingest/ingest.module.js';
import type { IngestServices } from '../ingest/partition-ingest.js';
import { Clients, ClientsModule } from './clients.module.js';
import { createHttpApplication } from './http-server.js';
import type { Maintenance } from '../maintenance/maintenance.js';

describe('at the end of the process', () => {
  it('maintenance ends, then the transport finishes what is in flight; Redis is closed last', async () => {
    const order: string[] = [];
    const note = (what: string) => () => Promise.resolve(void order.push(what));
    const redis = { disconnect: () => order.push('Redis') } as unknown as Redis;
    const admin = { disconnect: note('Kafka') } as unknown as Admin;
    const stop = note('maintenance');
    const maintenance = { start: () => undefined, stop } as unknown as Maintenance;

    @Module({
      imports: [
        ClientsModule.with(new Clients(redis, admin)),
        IngestModule.with({} as IngestServices, maintenance),
      ],
    })
    class App {}
    const strategy = {
      addHandler: () => undefined,
      listen: (done: () => void) => {
        done();
      },
      close: note('transport'),
      on: () => undefined,
      unwrap: () => undefined as never,
    };
    const app = await createHttpApplication({ module: App }, { logger: false }, SILENT);
    app.connectMicroservice({ strategy });
    await app.init();
    await app.startAllMicroservices();
    await app.close();
    expect(order).toEqual(['maintenance', 'transport', 'Kafka', 'Redis']);
  });
});
