import { hash } from 'node:crypto';
import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { LRUCache } from 'lru-cache';
import { firstValueFrom, of, type Observable } from 'rxjs';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { ProblemError } from '../infra/problems.js';
import { isRedisUnavailable } from '../infra/redis.js';

const MOST_ANSWERS = 10_000;
const MOST_BYTES = 64 * 1_048_576;

/** Reads that Redis gets at once; more are refused, because a queue would make them wait for a Redis that does not answer. */
const MOST_IN_FLIGHT = 1_000;

/** How long a failed attempt to read stands for the next ones, so that not every request waits for a Redis that hangs. */
const FALLBACK_MS = 1_000;

/** How old an answer may be while Redis does not answer. */
const MOST_STALE_MS = 60_000;

interface Answer {
  readonly body: string;
  readonly etag: string;
  /** When its read began, by the monotonic clock. */
  readonly readAt: number;
  /** When the last attempt to read it again failed: Redis did not answer, or too many reads were in flight. */
  readonly failedAt?: number;
}
type Read = () => Promise<object>;

/**
 * Answers reads. Equal GET requests share one answer for `queryCache` ms after its read, and one read at a time. While Redis
 * does not answer, they get the last answer, with `stale` and its age, for up to a minute. Without the cache, equal requests
 * share the next read that begins, so no answer is older than its request.
 */
@Injectable()
export class Answers implements NestInterceptor, OnModuleInit {
  #inFlight = 0;
  /** By URL, without the cache: the end of the last read, and the read that has not begun yet. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<Answer>>();
  readonly #answers: LRUCache<string, Answer, Read> | undefined;

  constructor(
    @Inject(SETTINGS) { queryCache }: Pick<Settings, 'queryCache'>,
    private readonly host: HttpAdapterHost,
  ) {
    if (queryCache > 0) this.#answers = newCache(queryCache);
  }

  /** Requests that need no read of their own are answered before Nest handles them, which costs several times as much. */
  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preValidation', (request, reply, done) => {
      const { method, url } = request;
      const shared =
        method === 'GET' ? (this.#answers?.get(url) ?? this.#waiting.get(url)) : undefined;
      const send = (answer: Answer) => void reply.send(write(answer, request, reply));
      if (shared === undefined) done();
      else if (shared instanceof Promise) shared.then(send, done);
      else send(shared);
    });
  }

  async intercept(
    context: ExecutionContext,
    next: CallHandler<object>,
  ): Promise<Observable<string>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const read = () => this.#limited(() => firstValueFrom(next.handle()));
    const isCacheable = request.method !== 'POST';
    const answer = await (isCacheable ? this.#answer(request.url, read) : answerOf(read));
    return of(write(answer, request, http.getResponse<FastifyReply>()));
  }

  async #limited(read: Read): Promise<object> {
    if (this.#inFlight >= MOST_IN_FLIGHT)
      throw new ProblemError('OVERLOADED', `${MOST_IN_FLIGHT} reads are in flight; try again`);
    this.#inFlight += 1;
    try {
      return await read();
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #answer(url: string, read: Read): Promise<Answer> {
    if (this.#answers === undefined) return this.#readNext(url, read);
    const known = this.#answers.peek(url, { allowStale: true });
    const hasFailed = performance.now() - (known?.failedAt ?? -Infinity) < FALLBACK_MS;
    const allowStale = hasFailed && known !== undefined && ageOf(known) < MOST_STALE_MS;
    return this.#answers.forceFetch(url, { context: read, allowStale });
  }

  /** Reads as soon as the last read of this URL has ended; requests that come before share this read. */
  #readNext(url: string, read: Read): Promise<Answer> {
    const waiting = this.#waiting.get(url);
    if (waiting !== undefined) return waiting;
    const answer = (this.#last.get(url) ?? Promise.resolve()).then(() => {
      this.#waiting.delete(url);
      return answerOf(read);
    });
    const forget = () => {
      if (this.#last.get(url) === ended) this.#last.delete(url);
    };
    const ended: Promise<void> = answer.then(forget, forget);
    this.#waiting.set(url, answer);
    this.#last.set(url, ended);
    return answer;
  }
}

function newCache(ttl: number): LRUCache<string, Answer, Read> {
  return new LRUCache({
    ...{ ttl, max: MOST_ANSWERS, maxSize: MOST_BYTES, noDeleteOnStaleGet: true },
    ignoreFetchAbort: true, // a read that is evicted while it runs still has an answer
    sizeCalculation: ({ body }, url) => 2 * (body.length + url.length), // two bytes per character at most
    fetchMethod: async (_, known: Answer | undefined, { context }) => {
      try {
        return await answerOf(context);
      } catch (error) {
        const isOverloaded = error instanceof ProblemError && error.code === 'OVERLOADED';
        if (known === undefined || !(isOverloaded || isRedisUnavailable(error))) throw error;
        if (ageOf(known) >= MOST_STALE_MS) throw error;
        return { ...known, failedAt: performance.now() };
      }
    },
  });
}

async function answerOf(read: Read): Promise<Answer> {
  const readAt = performance.now();
  const body = JSON.stringify(await read());
  const etag = `W/"${hash('sha1', body, 'base64url')}"`;
  return { body, etag, readAt };
}

function ageOf({ readAt }: Answer): number {
  return performance.now() - readAt;
}

/** Sets the headers of an answer; returns its body, which is empty if the client has it already. */
function write(answer: Answer, { headers, method }: FastifyRequest, reply: FastifyReply): string {
  void reply.headers({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
  });
  if (answer.failedAt !== undefined) {
    const age = Math.floor(ageOf(answer) / 1_000);
    void reply.header('age', age);
    return JSON.stringify({ ...(JSON.parse(answer.body) as object), stale: true, age });
  }
  void reply.header('etag', answer.etag);
  if (method === 'POST' || !fresh(headers, { etag: answer.etag })) return answer.body;
  void reply.code(304);
  return '';
}
