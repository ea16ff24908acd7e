import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ByteFlow } from './byte-flow.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** One connection through a proxy: two sockets, and the bytes in both directions. */
export class Link {
  readonly requests: ByteFlow;
  readonly replies: ByteFlow;

  constructor(
    readonly client: Socket,
    readonly server: Socket,
    terms: ConstructorParameters<typeof ByteFlow>[2],
  ) {
    this.requests = new ByteFlow(client, server, terms);
    this.replies = new ByteFlow(server, client, terms);
  }

  destroy(): void {
    this.client.destroy();
    this.server.destroy();
  }

  /** The client loses the connection; the server still gets all sent bytes. */
  hangUp(): void {
    this.client.destroy();
    this.server.end();
  }
}

/** Handles bytes that arrive. */
export interface LinkHandler {
  request(bytes: Buffer): void;
  reply(bytes: Buffer): void;
}

/**
 * A TCP proxy on a free loopback port, whose connections can be cut, refused, delayed, and frozen.
 */
export class TcpProxy {
  readonly #links = new Set<Link>();
  readonly #terms = { delayMs: 0, frozen: false };
  #refusing = false;
  #dropping: boolean | ((request: Buffer) => boolean) = false;
  #droppedReplies = 0;

  protected constructor(
    private readonly server: Server,
    protected target: Address,
    protected readonly others: readonly Address[] = [],
  ) {
    server.on('connection', (socket) => {
      this.#join(socket);
    });
  }

  static async to(target: Address): Promise<TcpProxy> {
    const proxy = new TcpProxy(createServer(), target);
    await proxy.listen();
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#links.size;
  }

  /** Closes all connections, and refuses new ones until `restore`. */
  cut(): void {
    this.#refusing = true;
    this.breakAll();
  }

  /** Closes all connections; accepts new ones. */
  breakAll(): void {
    for (const link of this.#links) link.destroy();
  }

  /** Undoes `cut` and `dropReplies`. */
  restore(): void {
    this.#refusing = false;
    this.#dropping = false;
  }

  /** Delays bytes in both directions; 0 ends the delay. */
  delay(ms: number): void {
    this.#terms.delayMs = ms;
  }

  /** Accepts and keeps connections, but delivers nothing until `thaw`. */
  freeze(): void {
    this.#terms.frozen = true;
  }

  /** Delivers the held bytes, and closes connections that have ended. */
  thaw(): void {
    this.#terms.frozen = false;
    for (const { requests, replies } of this.#links) {
      requests.deliver();
      replies.deliver();
    }
  }

  /**
   * Until `restore`: the server executes a request, but the connection breaks before the reply.
   * With `to`, only on connections with a request for which `to` returns true.
   */
  dropReplies(to?: (request: Buffer) => boolean): void {
    this.#dropping = to ?? true;
  }

  /** Number of dropped replies. */
  get droppedReplies(): number {
    return this.#droppedReplies;
  }

  /** New connections go to another server, as after a failover. */
  retarget(target: Address): void {
    this.target = target;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  protected async listen(host = '127.0.0.1'): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, host, resolve));
  }

  /** Clients reach the target at 127.0.0.1, and the other servers at 127.0.0.2 and so on. */
  #targetOf({ localAddress = '' }: Socket): Address {
    return this.others[Number(localAddress.split('.').at(-1)) - 2] ?? this.target;
  }

  /** Forwards bytes unchanged. */
  protected handlerOf({ requests, replies }: Link): LinkHandler {
    return {
      request: (bytes) => {
        requests.put(bytes);
      },
      reply: (bytes) => {
        replies.put(bytes);
      },
    };
  }

  #join(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    const server = connect({ ...this.#targetOf(client), noDelay: true });
    const link = new Link(client, server, this.#terms);
    client.setNoDelay(true);
    this.#links.add(link);
    this.#watch(link);
    const handler = this.handlerOf(link);
    let dropped = false;
    client.on('data', (bytes) => {
      dropped ||= typeof this.#dropping === 'function' && this.#dropping(bytes);
      handler.request(bytes);
    });
    link.server.on('data', (bytes) => {
      if (dropped || this.#dropping === true) this.#drop(link);
      else handler.reply(bytes);
    });
  }

  #drop(link: Link): void {
    if (!link.client.destroyed) this.#droppedReplies += 1;
    link.hangUp();
  }

  /** Forgets the link once both sockets are closed. Ignores errors, as a close follows each one. */
  #watch(link: Link): void {
    const { client, server, requests, replies } = link;
    for (const [socket, flow] of [
      [client, requests],
      [server, replies],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        flow.end();
        if (client.destroyed && server.destroyed) this.#links.delete(link);
      });
    }
  }
}
