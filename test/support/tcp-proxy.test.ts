import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from './instance.js';
import { TcpProxy } from './tcp-proxy.js';

/** A server that answers all it gets with its name and the bytes. */
class EchoServer {
  readonly got: string[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(name: string): Promise<EchoServer> {
    const server = createServer();
    const echo = new EchoServer(server);
    server.on('connection', (socket) => {
      echo.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        echo.got.push(bytes.toString());
        socket.write(`${name}:${bytes.toString()}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return echo;
  }

  get address() {
    return { host: '127.0.0.1', port: (this.server.address() as AddressInfo).port };
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** A connection and what has come over it. */
class Client {
  got = '';
  isClosed = false;
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect({ host: '127.0.0.1', port });
    this.#socket.on('data', (bytes) => (this.got += bytes.toString()));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => (this.isClosed = true));
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }

  gets(text: string): Promise<void> {
    return until(() => this.got === text, `the client has got ${text}, not ${this.got}`);
  }

  closes(): Promise<void> {
    return until(() => this.isClosed, 'the connection is lost');
  }
}

describe('a TCP proxy', () => {
  let server: EchoServer;
  let proxy: TcpProxy;
  let client: Client;
  beforeEach(async () => {
    server = await EchoServer.start('one');
    proxy = await TcpProxy.to(server.address);
    client = new Client(proxy.port);
    client.send('a');
    await client.gets('one:a');
  });
  afterEach(async () => {
    await client.close();
    await proxy.close();
    await server.stop();
  });

  it('cuts connections and refuses new ones until it is restored', async () => {
    proxy.cut();
    await client.closes();
    const refused = new Client(proxy.port);
    await refused.closes();
    proxy.restore();
    const welcome = new Client(proxy.port);
    welcome.send('b');
    await welcome.gets('one:b');
    await welcome.close();
    await until(() => proxy.connections === 0, 'nothing is left open');
  });

  it('delays both directions and keeps their order', async () => {
    proxy.delay(100);
    const started = performance.now();
    client.send('b');
    await until(() => server.got.length === 2, 'the server has got it');
    expect(performance.now() - started).toBeGreaterThan(90);
    proxy.delay(0);
    client.send('c'); // sooner than the answer to b, were it not for the order
    await client.gets('one:aone:bone:c');
    expect(server.got).toEqual(['a', 'b', 'c']);
  });

  it('holds everything back while it is frozen, also the end of a connection, and delivers it then', async () => {
    const other = new Client(proxy.port);
    other.send('x');
    await other.gets('one:x');
    proxy.freeze();
    client.send('b');
    other.send('y');
    await other.close();
    const late = new Client(proxy.port);
    late.send('z');
    await until(() => proxy.connections === 3, 'the new connection is there');
    expect(server.got).toEqual(['a', 'x']);
    expect([client.isClosed, late.isClosed]).toEqual([false, false]);
    proxy.thaw();
    await client.gets('one:aone:b');
    await late.gets('one:z');
    await until(() => server.got.includes('y'), 'what was sent before the end is there');
    await until(() => proxy.connections === 2, 'the end is there');
    await late.close();
  });

  it('loses the answer to what the server has done, and the connection with it', async () => {
    proxy.dropReplies();
    client.send('b');
    await client.closes();
    expect([client.got, server.got]).toEqual(['one:a', ['a', 'b']]);
    proxy.restore();
    const next = new Client(proxy.port);
    next.send('c');
    await next.gets('one:c');
    await next.close();
  });

  it('loses only the answers to what it is told to', async () => {
    proxy.dropReplies((request) => request.includes('b'));
    client.send('a');
    await client.gets('one:aone:a');
    expect(proxy.droppedReplies).toBe(0);
    client.send('b');
    await client.closes();
    expect([proxy.droppedReplies, client.got, server.got]).toEqual([
      1,
      'one:aone:a',
      ['a', 'a', 'b'],
    ]);
  });

  it('leads later connections to another server', async () => {
    const two = await EchoServer.start('two');
    proxy.retarget(two.address);
    const later = new Client(proxy.port);
    later.send('b');
    await later.gets('two:b');
    client.send('b');
    await client.gets('one:aone:b');
    await later.close();
    await two.stop();
  });

  it('passes on megabytes as they are, though the receiver is slow', async () => {
    const text = 'x'.repeat(8_000_000);
    client.send(text);
    await until(() => server.got.join('').length === text.length + 1, 'all has arrived');
    await until(
      () => client.got.replaceAll('one:', '').length === text.length + 1,
      'and come back',
    );
  });
});
