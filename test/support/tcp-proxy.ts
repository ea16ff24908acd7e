import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ByteFlow } from './byte-flow.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** One connection through a proxy: the sockets of both ends, and what flows between them. */
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

  /** The client loses the connection; the server still gets all that was sent. */
  hangUp(): void {
    this.client.destroy();
    this.server.end();
  }
}

/** What becomes of the bytes that arrive. */
export interface LinkHandler {
  request(bytes: Buffer): void;
  reply(bytes: Buffer): void;
}

/** A TCP proxy on a free port of the loopback, whose connections can be cut, refused, delayed, and held half-open. */
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

  /** Connections that are open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Ends all connections, and new ones at once, until `restore`. */
  cut(): void {
    this.#refusing = true;
    this.breakAll();
  }

  /** Ends all connections; new ones are welcome. */
  breakAll(): void {
    for (const link of this.#links) link.destroy();
  }

  /** Undoes `cut` and `dropReplies`. */
  restore(): void {
    this.#refusing = false;
    this.#dropping = false;
  }

  /** From now on bytes arrive so much later, in each direction; 0 ends it. */
  delay(ms: number): void {
    this.#terms.delayMs = ms;
  }

  /** Half-open: connections stay, also new ones, but nothing that is sent arrives, until `thaw`. */
  freeze(): void {
    this.#terms.frozen = true;
  }

  /** Delivers what was held back since `freeze`, the end of connections, too. */
  thaw(): void {
    this.#terms.frozen = false;
    for (const { requests, replies } of this.#links) {
      requests.deliver();
      replies.deliver();
    }
  }

  /**
   * Until `restore`: what a server is told, it does, but with its next reply the connection is lost in place of it.
   * With `to`, only connections over which such bytes are sent from now on.
   */
  dropReplies(to?: (request: Buffer) => boolean): void {
    this.#dropping = to ?? true;
  }

  /** Replies that were lost so. */
  get droppedReplies(): number {
    return this.#droppedReplies;
  }

  /** Later connections go to another server, as after a failover. */
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

  /** Connections to 127.0.0.1 lead to the target, those to 127.0.0.2 and so on to the others. */
  #targetOf({ localAddress = '' }: Socket): Address {
    return this.others[Number(localAddress.split('.').at(-1)) - 2] ?? this.target;
  }

  /** Passes bytes on as they are. */
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

  /** An error needs no more than the close that follows it. */
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
