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
import { ProblemError } from '#problems';
import type { Settings } from '../../config/settings.js';
import { SETTINGS } from '../../infra/config.module.js';
import { Metrics } from '../../infra/metrics.js';
import { isRedisUnavailable } from '../../infra/redis.js';
import { MOST_REQUESTS } from '../dto/requests.js';

const MOST_ANSWERS = 10_000;
const MOST_BYTES = 64 * 1_048_576;

/** The most reads in flight. More are refused: a queue would grow while Redis does not answer. */
const MOST_IN_FLIGHT = 1_000;

/** For how long a failed read is not tried again, so that not every request waits for Redis. */
const FALLBACK_MS = 1_000;

/** How old an answer may be while Redis does not answer. */
const MOST_STALE_MS = 60_000;

interface Answer {
  readonly body: string;
  readonly etag: string;
  /** When the read of the answer began, by the monotonic clock. */
  readonly readAt: number;
  /** When the last new read failed: Redis did not answer, or too many reads were in flight. */
  readonly failedAt?: number;
}

/** The read of a request. */
interface Read {
  readonly handler: CallHandler<object>;
  /** How many reads the handler sends to Redis. */
  readonly count: number;
}

/**
 * Answers reads. Equal GET requests share one read at a time, and its answer for `queryCache` ms
 * after the read. While Redis does not answer, they get the last answer for up to a minute, with
 * `stale` and its age. Without the cache, equal requests share the next read that begins, so no
 * answer is older than its request.
 */
@Injectable()
export class Answers implements NestInterceptor, OnModuleInit {
  #inFlight = 0;
  readonly #answers: LRUCache<string, Answer, Read>;

  /** With 0 for `queryCache`, the cache only shares running reads. */
  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'queryCache'>,
    private readonly host: HttpAdapterHost,
    private readonly metrics: Metrics,
  ) {
    this.#answers = new LRUCache({
      ttl: settings.queryCache,
      max: MOST_ANSWERS,
      maxSize: MOST_BYTES,
      maxEntrySize: settings.queryCache > 0 ? MOST_BYTES : 1,
      noDeleteOnStaleGet: true,
      // An entry that is evicted during its read still gets the answer.
      ignoreFetchAbort: true,
      // A character has two bytes at most.
      sizeCalculation: ({ body }, url) => 2 * (body.length + url.length),
      fetchMethod: (_, known, { context }) => this.#readAgain(known, context),
    });
  }

  /** Answers from the cache before Nest, whose pipeline costs several times as much. */
  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preValidation', (request, reply, done) => {
      const answer = request.method === 'GET' ? this.#answers.get(request.url) : undefined;
      if (answer === undefined) {
        done();
        return;
      }

      this.metrics.counters.ranklog_query_cache_requests_total.inc({ result: 'hit' });
      void reply.send(write(answer, request, reply));
    });
  }

  async intercept(context: ExecutionContext, next: CallHandler<object>) {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const read = { handler: next, count: readsOf(request.body) };
    const isCacheable = request.method !== 'POST';
    const answer = await (isCacheable ? this.#share(request.url, read) : this.#read(read));
    return of(write(answer, request, http.getResponse<FastifyReply>()));
  }

  /** The answer to a request that the cache could not answer. */
  async #share(url: string, read: Read): Promise<Answer> {
    const requestedAt = performance.now();
    this.metrics.counters.ranklog_query_cache_requests_total.inc({ result: 'miss' });

    const known = this.#answers.peek(url, { allowStale: true });
    const hasFailed = requestedAt - (known?.failedAt ?? -Infinity) < FALLBACK_MS;
    const allowStale = hasFailed && known !== undefined && ageOf(known) < MOST_STALE_MS;
    const answer = await this.#answers.forceFetch(url, { context: read, allowStale });

    const isTooOld = this.settings.queryCache === 0 && answer.readAt < requestedAt;
    return isTooOld ? this.#answers.forceFetch(url, { context: read }) : answer;
  }

  /** Reads for the cache. If that is impossible, returns the known answer unless it is too old. */
  async #readAgain(known: Answer | undefined, read: Read): Promise<Answer> {
    try {
      return await this.#read(read);
    } catch (error) {
      const isOverloaded = error instanceof ProblemError && error.code === 'OVERLOADED';
      const isTemporary = isOverloaded || isRedisUnavailable(error);
      if (known === undefined || !isTemporary) throw error;
      if (ageOf(known) >= MOST_STALE_MS) throw error;
      return { ...known, failedAt: performance.now() };
    }
  }

  async #read({ handler, count }: Read): Promise<Answer> {
    if (this.#inFlight + count > MOST_IN_FLIGHT)
      throw new ProblemError('OVERLOADED', `${this.#inFlight} reads are in flight; try again`);

    this.#inFlight += count;
    try {
      const readAt = performance.now();
      const body = JSON.stringify(await firstValueFrom(handler.handle()));
      const etag = `W/"${hash('sha1', body, 'base64url')}"`;
      return { body, etag, readAt };
    } finally {
      this.#inFlight -= count;
    }
  }
}

/** How many reads a request sends to Redis: a request for a player's standings sends several. */
function readsOf(body: unknown): number {
  const { requests } = (body ?? {}) as { requests?: unknown };
  if (!Array.isArray(requests)) return 1;
  return Math.min(Math.max(1, requests.length), MOST_REQUESTS); // Nest has not checked the body yet
}

function ageOf({ readAt }: Answer): number {
  return performance.now() - readAt;
}

/** Sets the headers of an answer. Returns its body, which is empty if the client has it already. */
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
