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
import { firstValueFrom, of } from 'rxjs';
import type { Settings } from '../../config/settings.js';
import { SETTINGS } from '../../infra/config.module.js';
import { Metrics } from '../../infra/metrics.js';
import { isRedisUnavailable } from '../../infra/redis.js';
import { ProblemError } from '../http/problems.js';

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
  readonly #answers: LRUCache<string, Answer, Read>;

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'queryCache'>,
    private readonly host: HttpAdapterHost,
    private readonly metrics: Metrics,
  ) {
    this.#answers = newCache(settings.queryCache);
  }

  /** Requests with an answer in the cache get it before Nest handles them, which costs several times as much. */
  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preValidation', (request, reply, done) => {
      const answer = request.method === 'GET' ? this.#answers.get(request.url) : undefined;
      const { ranklog_query_cache_requests_total } = this.metrics.counters;
      if (answer !== undefined) ranklog_query_cache_requests_total.inc({ result: 'hit' });
      if (answer === undefined) done();
      else void reply.send(write(answer, request, reply));
    });
  }

  async intercept(context: ExecutionContext, next: CallHandler<object>) {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reads = readsOf(request.body);
    const read = () => this.#limited(reads, () => firstValueFrom(next.handle()));
    const isCacheable = request.method !== 'POST';
    const answer = await (isCacheable ? this.#answer(request.url, read) : answerOf(read));
    return of(write(answer, request, http.getResponse<FastifyReply>()));
  }

  async #limited(reads: number, read: Read): Promise<object> {
    if (this.#inFlight + reads > MOST_IN_FLIGHT)
      throw new ProblemError('OVERLOADED', `${this.#inFlight} reads are in flight; try again`);
    this.#inFlight += reads;
    try {
      return await read();
    } finally {
      this.#inFlight -= reads;
    }
  }

  async #answer(url: string, read: Read): Promise<Answer> {
    const askedAt = performance.now();
    this.metrics.counters.ranklog_query_cache_requests_total.inc({ result: 'miss' });
    const known = this.#answers.peek(url, { allowStale: true });
    const hasFailed = askedAt - (known?.failedAt ?? -Infinity) < FALLBACK_MS;
    const allowStale = hasFailed && known !== undefined && ageOf(known) < MOST_STALE_MS;
    const answer = await this.#answers.forceFetch(url, { context: read, allowStale });
    const isTooOld = this.settings.queryCache === 0 && answer.readAt < askedAt;
    return isTooOld ? this.#answers.forceFetch(url, { context: read }) : answer;
  }
}

/** How many reads a request sends to Redis: that of a player's standings has several. */
function readsOf(body: unknown): number {
  const { requests } = (body ?? {}) as { requests?: unknown };
  return Array.isArray(requests) ? Math.max(1, requests.length) : 1;
}

/** The cache also shares reads while they run: with 0 for `ttl`, it does no more. */
function newCache(ttl: number): LRUCache<string, Answer, Read> {
  return new LRUCache({
    ...{ ttl, max: MOST_ANSWERS, maxSize: MOST_BYTES, noDeleteOnStaleGet: true },
    maxEntrySize: ttl > 0 ? MOST_BYTES : 1,
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
