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
 * What becomes of a request:
 * - swallowReply: executed, but the connection is lost in place of the answer;
 * - tearReply: executed, but the connection is lost in the middle of the answer;
 * - cutBefore: not executed, the connection is lost;
 * - hangBefore, hangAfter: not executed, or executed; there is never an answer, the connection stays;
 * - an error: answered with this code, though it was executed, or as it was not;
 * - delayMs: executed so much later.
 */
export type KafkaAction =
  | 'swallowReply'
  | 'tearReply'
  | 'cutBefore'
  | 'hangBefore'
  | 'hangAfter'
  | { readonly error: number; readonly executed: boolean }
  | { readonly delayMs: number };

/** A fault that waits for requests. */
export class KafkaFault {
  #hits = 0;
  #executed = 0;

  constructor(
    readonly apiKey: number,
    readonly action: KafkaAction,
    private readonly limits: {
      readonly times: number;
      readonly when: (request: KafkaRequest) => boolean;
    },
  ) {}

  /** Requests that it was done to. */
  get hits(): number {
    return this.#hits;
  }

  /** Requests of these that the broker has answered, though nobody hears of it. */
  get executed(): number {
    return this.#executed;
  }

  /** Whether all the requests that it was made for have come. */
  get isDone(): boolean {
    return this.#hits >= this.limits.times;
  }

  /** Whether it is for this request; counts it. */
  takes(request: KafkaRequest): boolean {
    if (this.isDone || request.apiKey !== this.apiKey || !this.limits.when(request)) return false;
    this.#hits += 1;
    return true;
  }

  countExecuted(): void {
    this.#executed += 1;
  }
}

/**
 * A TCP proxy in front of Kafka brokers that knows their requests. Responses name an address of the proxy in place of each
 * broker's (127.0.0.1 for the first one, 127.0.0.2 for the next), so that clients stay on it: those that use versions before
 * KIP-482 (compact strings), as kafkajs does.
 */
export class KafkaProxy extends TcpProxy {
  readonly #faults = new Set<KafkaFault>();

  static override async to(target: Address, ...others: Address[]): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(createServer(), target, others);
    await proxy.listen(others.length > 0 ? '0.0.0.0' : undefined);
    return proxy;
  }

  /** A proxy in front of the broker that the environment names. */
  static toBroker(): Promise<KafkaProxy> {
    const [host = '', port = ''] =
      (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]?.split(':') ?? [];
    return KafkaProxy.to({ host, port: Number(port) });
  }

  /** What clients are told to connect to. */
  get broker(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Does so to the next `times` requests (1 unless told) of this kind, of those that `when` holds for. */
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

  /** Takes all faults of `onRequest` away. What hangs goes on hanging. */
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

/** What a connection asks of its proxy. */
interface Rules {
  faultFor(request: KafkaRequest): KafkaFault | undefined;
  withOwnAddress(frame: Buffer): Buffer;
}

/** What the client gets in place of an answer, or how it gets none. */
type Reply = Buffer | 'swallowReply' | 'tearReply' | 'hangAfter';
type ReplyChange = (frame: Buffer) => Reply;

const NAME_BROKERS: ReadonlySet<number> = new Set([KAFKA_API.metadata, KAFKA_API.findCoordinator]);

/** One connection of a client. States: open; silent in one direction or both, for ever; lost. */
class KafkaLink implements LinkHandler {
  readonly #requests = new FrameReader();
  readonly #replies = new FrameReader();
  readonly #changes = new Map<number, ReplyChange>();
  #deaf = false;
  #dumb = false;

  constructor(
    private readonly link: Link,
    private readonly rules: Rules,
  ) {}

  request(bytes: Buffer): void {
    for (const frame of this.#requests.push(bytes)) if (!this.#deaf) this.#ask(parseRequest(frame));
  }

  reply(bytes: Buffer): void {
    for (const frame of this.#replies.push(bytes)) if (!this.#dumb) this.#answer(frame);
  }

  #ask(request: KafkaRequest): void {
    const { correlationId, frame } = request;
    if (NAME_BROKERS.has(request.apiKey))
      this.#changes.set(correlationId, (reply) => this.rules.withOwnAddress(reply));
    const fault = this.rules.faultFor(request);
    if (fault === undefined) {
      this.link.requests.put(frame);
      return;
    }
    const { action } = fault;
    if (typeof action === 'string') this.#break(request, action, fault);
    else if ('delayMs' in action) this.link.requests.put(frame, action.delayMs);
    else this.#fail(request, action, fault);
  }

  #break(request: KafkaRequest, action: Extract<KafkaAction, string>, fault: KafkaFault): void {
    if (action === 'cutBefore') this.link.destroy();
    else if (action === 'hangBefore') this.#deaf = this.#dumb = true;
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
      fault.countExecuted();
      return reply;
    });
    this.link.requests.put(frame);
  }

  #answer(frame: Buffer): void {
    const correlationId = correlationIdOf(frame);
    const changed = this.#changes.get(correlationId)?.(frame) ?? frame;
    this.#changes.delete(correlationId);
    if (typeof changed !== 'string') this.link.replies.put(changed);
    else if (changed === 'hangAfter') this.#dumb = true;
    else if (changed === 'swallowReply') this.link.hangUp();
    else this.#tear(frame);
  }

  #tear(frame: Buffer): void {
    this.#dumb = true;
    this.link.replies.put(frame.subarray(0, Math.ceil(frame.length / 2)));
    this.link.replies.end();
    this.link.server.end();
  }
}
