import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { until } from '../../../test/support/instance.js';
import { EventStream } from './event-stream.js';

describe('EventStream', () => {
  let server: FastifyInstance;
  let asked: number;
  let closed: number;
  /** Streams open once this resolves. */
  let ready: Promise<void>;

  beforeEach(async () => {
    [asked, closed, ready] = [0, 0, Promise.resolve()];
    server = fastify({ forceCloseConnections: true });
    server.get('/', async (_, reply) => {
      asked += 1;
      await ready;
      EventStream.open(reply, () => (closed += 1)).heartbeat('0');
    });
    await server.listen();
  });
  afterEach(() => server.close());

  const client = () => connect({ port: server.addresses()[0]?.port ?? 0, host: 'localhost' });
  const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';

  it('is closed when its client leaves', async () => {
    const socket = client();
    socket.write(GET);
    await once(socket, 'data');
    expect(closed).toBe(0);
    socket.destroy();
    await until(() => closed === 1, 'the stream is closed', 5);
  });

  it('is closed if its client has left before it opened', async () => {
    let open: () => void = () => undefined;
    ready = new Promise((resolve) => (open = resolve));
    const left = once(server.server, 'connection').then(([socket]) =>
      once(socket as Socket, 'close'),
    );
    const socket = client();
    socket.write(GET);
    await until(() => asked === 1, 'it is asked for', 5);
    socket.destroy();
    await left;
    open();
    await until(() => closed === 1, 'the stream is closed', 5);
  });

  it('is closed if it waited behind another one of its connection', async () => {
    const socket = client();
    socket.write(GET + GET + GET);
    await once(socket, 'data');
    await until(() => asked === 3, 'all are asked for', 5);
    socket.destroy();
    await until(() => closed === 3, 'the streams are closed', 5);
  });
});
