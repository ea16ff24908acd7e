import { createServer, type Server } from 'node:net';
import { TcpProxy, type Address, type Link, type LinkHandler } from './tcp-proxy.js';

/** The nodes of a cluster talk to each other at their port plus this. */
export const BUS = 10_000;
/** Where a message of the bus has the port of its sender: `clusterMsg` in Redis's cluster.h. */
const SENDER_AT = 10;
const HEAD = SENDER_AT + 2;

/** Whether nodes may talk to each other, by their ports. */
type IsCut = (from: number, to: number) => boolean;

/**
 * A proxy in front of the bus port of a node. Each node opens a connection to each other one, so a
 * connection has one sender.
 */
export class BusProxy extends TcpProxy {
  private constructor(
    server: Server,
    target: Address,
    readonly node: number,
    private readonly isCut: IsCut,
  ) {
    super(server, target);
  }

  /** `node` is the port at which clients reach the node. */
  static async before(node: number, isCut: IsCut): Promise<BusProxy> {
    const target = { host: '127.0.0.1', port: node + BUS };
    const proxy = new BusProxy(createServer(), target, node, isCut);
    await proxy.listen();
    return proxy;
  }

  protected override handlerOf(link: Link): LinkHandler {
    const forward = super.handlerOf(link);
    let sender: number | undefined;
    return {
      reply: (bytes) => forward.reply(bytes),
      request: (bytes) => {
        if (bytes.length >= HEAD) sender ??= bytes.readUInt16BE(SENDER_AT);
        if (sender === undefined || this.isCut(sender, this.node)) link.destroy();
        else forward.request(bytes);
      },
    };
  }
}
