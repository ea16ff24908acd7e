import { createServer } from 'node:net';
import { errorAnswer } from './kafka-error-answers.js';
import {
  addressBytes,
  correlationIdOf,
  FrameReader,
  KAFKA_API,
  parseRequest,
  replaceInFrame,
  responseFrame,
  type KafkaRequest,
} from './kafka-frames.js';
import { TcpProxy, type Address, type Link, type LinkHandler } from './tcp-proxy.js';

/**
 * The fault of a request:
 * - swallowReply: executed, but the connection breaks before the response;
 * - tearReply: executed, but the connection breaks in the middle of the response;
 * - cutBefore: not executed, the connection breaks;
 * - hangBefore, hangAfter: not executed, or executed, and no response; the connection stays open;
 * - error: the response is this error code; `executed` says whether the broker executes the
 *   request;
 * - delayMs: executed after this delay.
 */
export type KafkaAction =
  | 'swallowReply'
  | 'tearReply'
  | 'cutBefore'
  | 'hangBefore'
  | 'hangAfter'
  | { readonly error: number; readonly executed: boolean }
  | { readonly delayMs: number };

/** A fault for some of the next requests. */
export class KafkaFault {
  /** Requests that got the fault. */
  hits = 0;
  /** Requests with the fault that the broker has executed; `delayMs` does not count them. */
  executed = 0;

  constructor(
    readonly apiKey: number,
    readonly action: KafkaAction,
    private readonly limits: {
      readonly times: number;
      readonly when: (request: KafkaRequest) => boolean;
    },
  ) {}

  /** Whether the fault has hit as many requests as it is meant for. */
  get isDone(): boolean {
    return this.hits >= this.limits.times;
  }

  /** Returns whether the request gets the fault, and counts it if so. */
  takes(request: KafkaRequest): boolean {
    if (this.isDone || request.apiKey !== this.apiKey || !this.limits.when(request)) return false;
    this.hits += 1;
    return true;
  }
}

/**
 * A TCP proxy in front of Kafka brokers that parses their requests. It replaces each broker's
 * address in responses by one of its own (127.0.0.1 for the first broker, 127.0.0.2 for the next),
 * so that clients stay on the proxy. For clients with protocol versions before KIP-482 (compact
 * strings), such as kafkajs.
 */
export class KafkaProxy extends TcpProxy {
  readonly #faults = new Set<KafkaFault>();

  static override async to(target: Address, ...others: Address[]): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(createServer(), target, others);
    await proxy.listen(others.length > 0 ? '0.0.0.0' : undefined);
    return proxy;
  }

  /** A proxy in front of the first of KAFKA_BROKERS. */
  static toBroker(): Promise<KafkaProxy> {
    const [host = '', port = ''] =
      (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]?.split(':') ?? [];
    return KafkaProxy.to({ host, port: Number(port) });
  }

  /** The address for clients. */
  get broker(): string {
    return `127.0.0.1:${this.port}`;
  }

  /**
   * Sets a fault for the next `times` (1 by default) requests of this kind for which `when` holds.
   */
  onRequest(
    apiKey: number,
    action: KafkaAction,
    {
      times = 1,
      when = () => true,
    }: { times?: number; when?: (request: KafkaRequest) => boolean } = {},
  ): KafkaFault {
    const fault = new KafkaFault(apiKey, action, { times, when });
    this.#faults.add(fault);
    return fault;
  }

  /** Removes all faults. Silent connections stay silent. */
  clearFaults(): void {
    this.#faults.clear();
  }

  protected override handlerOf(link: Link): LinkHandler {
    return new KafkaLink(link, {
      faultFor: (request) => this.#faultFor(request),
      withOwnAddress: (reply) =>
        [this.target, ...this.others].reduce(
          (frame, target, index) =>
            replaceInFrame(frame, addressBytes(target), addressBytes(this.#addressOf(index))),
          reply,
        ),
    });
  }

  #addressOf(index: number): Address {
    return { host: `127.0.0.${index + 1}`, port: this.port };
  }

  #faultFor(request: KafkaRequest): KafkaFault | undefined {
    for (const fault of this.#faults) if (fault.takes(request)) return fault;
    return undefined;
  }
}

/** The part of the proxy that a connection uses. */
interface Rules {
  faultFor(request: KafkaRequest): KafkaFault | undefined;
  withOwnAddress(frame: Buffer): Buffer;
}

/** The response that the client gets, or how it gets none. */
type Reply = Buffer | 'swallowReply' | 'tearReply' | 'hangAfter';
type ReplyChange = (frame: Buffer) => Reply;

const HAVE_ADDRESSES: ReadonlySet<number> = new Set([
  KAFKA_API.metadata,
  KAFKA_API.findCoordinator,
]);

/**
 * One connection of a client. States: open; silent for ever, in one direction (#ignoresReplies) or
 * both; lost.
 */
class KafkaLink implements LinkHandler {
  readonly #requests = new FrameReader();
  readonly #replies = new FrameReader();
  readonly #changes = new Map<number, ReplyChange>();
  #ignoresRequests = false;
  #ignoresReplies = false;

  constructor(
    private readonly link: Link,
    private readonly rules: Rules,
  ) {}

  request(bytes: Buffer): void {
    for (const frame of this.#requests.push(bytes))
      if (!this.#ignoresRequests) this.#forward(parseRequest(frame));
  }

  reply(bytes: Buffer): void {
    for (const frame of this.#replies.push(bytes)) if (!this.#ignoresReplies) this.#return(frame);
  }

  #forward(request: KafkaRequest): void {
    const { correlationId, frame } = request;
    if (HAVE_ADDRESSES.has(request.apiKey))
      this.#changes.set(correlationId, (reply) => this.rules.withOwnAddress(reply));
    const fault = this.rules.faultFor(request);
    if (fault === undefined) {
      this.link.requests.put(frame);
      return;
    }
    const { action } = fault;
    if (typeof action === 'string') this.#interrupt(request, action, fault);
    else if ('delayMs' in action) this.link.requests.put(frame, action.delayMs);
    else this.#fail(request, action, fault);
  }

  #interrupt(request: KafkaRequest, action: Extract<KafkaAction, string>, fault: KafkaFault): void {
    if (action === 'cutBefore') this.link.destroy();
    else if (action === 'hangBefore') this.#ignoresRequests = this.#ignoresReplies = true;
    else this.#execute(request, action, fault);
  }

  #fail(
    request: KafkaRequest,
    { error, executed }: { error: number; executed: boolean },
    fault: KafkaFault,
  ): void {
    const answer = responseFrame(request.correlationId, errorAnswer(request, error));
    if (executed) this.#execute(request, answer, fault);
    else this.link.replies.put(answer);
  }

  #execute({ correlationId, frame }: KafkaRequest, reply: Reply, fault: KafkaFault): void {
    this.#changes.set(correlationId, () => {
      fault.executed += 1;
      return reply;
    });
    this.link.requests.put(frame);
  }

  #return(frame: Buffer): void {
    const correlationId = correlationIdOf(frame);
    const changed = this.#changes.get(correlationId)?.(frame) ?? frame;
    this.#changes.delete(correlationId);
    if (typeof changed !== 'string') this.link.replies.put(changed);
    else if (changed === 'hangAfter') this.#ignoresReplies = true;
    else if (changed === 'swallowReply') this.link.hangUp();
    else this.#tear(frame);
  }

  #tear(frame: Buffer): void {
    this.#ignoresReplies = true;
    this.link.replies.put(frame.subarray(0, Math.ceil(frame.length / 2)));
    this.link.replies.end();
    this.link.server.end();
  }
}
