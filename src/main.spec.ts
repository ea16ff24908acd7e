import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdentityCheck } from '#board-store';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { AppModule } from './app.module.js';
import { ROLES, type Role } from './config/roles.js';
import { loadSettings } from './config/settings.js';
import { KafkaConnection } from './infra/kafka.js';
import { SILENT } from './infra/logger.js';
import { Maintenance } from './infra/maintenance.js';
import { RedisClients } from './infra/redis.js';
import { Shutdown } from './infra/shutdown.js';
import { HealthService } from './operations/health.js';
import { describeRoutes } from './query/http/openapi.js';
import { BoardRegistrar } from './reconciliation/boards/board-registrar.js';

/**
 * The application without servers: the identity check, the transport and the registrar are fakes;
 * Kafka is not connected.
 */
describe('AppModule', () => {
  let calls: string[];
  const note = (call: string) => () => Promise.resolve(void calls.push(call));

  beforeEach(() => {
    calls = [];
    const end = jest.spyOn(Maintenance.prototype, 'beforeApplicationShutdown');
    end.mockImplementation(note('maintenance ended'));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  async function create(...roles: Role[]): Promise<NestFastifyApplication> {
    const { settings } = loadSettings({});
    const shutdown = new Shutdown({ timeoutMs: 1, logger: SILENT, force: () => undefined });
    const start = { waitsFor: 'a test' };
    const options = { settings, logger: SILENT, roles, shutdown, start };
    const kafka = new KafkaConnection(settings, SILENT);
    kafka.admin.disconnect = note('Kafka closed');
    const transport = {
      addHandler: () => undefined,
      listen: (done: () => void) => {
        calls.push('transport reads');
        done();
      },
      close: note('transport closed'),
      on: () => undefined,
      unwrap: () => kafka.kafka.consumer({ groupId: 'none' }),
      health: () => ({ loopAgeMs: 0, partitions: new Map() }),
    };
    const registrar = { register: note('boards registered'), keepRegistered: note('task') };
    const module = await Test.createTestingModule({ imports: [AppModule.forRoot(options)] })
      .overrideProvider(IdentityCheck)
      .useValue(new IdentityCheck({}))
      .overrideProvider(KafkaConnection)
      .useValue(kafka)
      .overrideProvider(KafkaBatchServer)
      .useValue(transport)
      .overrideProvider(BoardRegistrar)
      .useValue(registrar)
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
      logger: false,
    });
    describeRoutes(app);
    return app;
  }

  it.each([[[...ROLES]], [['ingest']], [['reconciliation']], [['query']]] satisfies [Role[]][])(
    'resolves all providers for the roles %j, and reports health',
    async (roles) => {
      const app = await create(...roles);
      await app.init();
      const problems = ['a test', 'not connected to Redis (wait)'];
      const reported = app.get(HealthService).report();
      expect(reported).toEqual({
        ...{ status: 'starting', problems, partitions: [] },
        roles: Object.fromEntries(roles.map((role) => [role, problems])),
      });
      await app.close();
    },
  );

  it('registers the boards before the transport reads; at the end stops maintenance, then the transport, Kafka and Redis', async () => {
    const app = await create(...ROLES);
    const clients = app.get(RedisClients);
    clients.disconnect = () => void calls.push('Redis closed');
    app.connectMicroservice({ strategy: app.get(KafkaBatchServer) });
    await app.init();
    await app.startAllMicroservices();
    await app.close();
    expect(calls).toEqual([
      'boards registered',
      'transport reads',
      'maintenance ended', // that of ingest
      'maintenance ended', // and that of reconciliation
      'maintenance ended', // and the announcer
      'transport closed',
      'Kafka closed',
      'Redis closed',
    ]);
  });
});
