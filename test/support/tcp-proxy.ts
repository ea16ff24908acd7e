import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy on a free port of the loopback, whose connections can be cut and refused. */
export class TcpProxy {
  readonly #sockets = new Set<Socket>();
  #refusing = false;

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
  ) {
    server.on('connection', (socket) => {
      this.#join(socket);
    });
  }

  static async to(target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all connections, and new ones at once, until `restore`. */
  cut(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#refusing = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #join(socket: Socket): void {
    if (this.#refusing) {
      socket.destroy();
      return;
    }
    const upstream = connect(this.target);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
