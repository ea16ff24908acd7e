import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import compress from '@fastify/compress';
import type { DynamicModule } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { ProblemError } from '#problems';
import { variableOf } from '../../config/settings-schema.js';
import { SettingsError, type Settings } from '../../config/settings.js';
import { nestLogger, type Logger } from '../../infra/logger.js';
import { answerMalformed, ProblemsFilter } from './problems.filter.js';
import { parseQuery } from './query-string.js';
import { requireDtos } from './require-dtos.js';
import type { Tokens } from './tokens.js';
import { RequestPipe } from './validation.pipe.js';

/** Names of boards and ids of players have up to 128 bytes, and each may be percent-encoded. */
const MAX_PARAMETER_LENGTH = 3 * 128;

/** Room for a thousand ids of players with all characters escaped. */
const MAX_BODY_BYTES = 1_048_576;

/**
 * Limits for requests that do not arrive, and for idle connections, such as an export whose client
 * does not read. Streams of events send heartbeats more often.
 */
export const TIME_LIMITS = {
  requestTimeout: 15_000,
  connectionTimeout: 60_000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
};

/** The Nest application, on Fastify; it does not listen yet. Checks tokens only with `tokens`. */
export async function createHttpApplication(
  module: DynamicModule,
  logger: Logger,
  { httpCors = [], tokens }: { httpCors?: Settings['httpCors']; tokens?: Tokens | undefined } = {},
): Promise<NestFastifyApplication> {
  const problems = new ProblemsFilter(logger, MAX_PARAMETER_LENGTH);
  const adapter = new FastifyAdapter({
    // A client that keeps its connection open must not delay the shutdown.
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    ...TIME_LIMITS,
    http: { ...TIME_LIMITS.http, requireHostHeader: false }, // Node would answer 400 without a body
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: parseQuery },
    genReqId: requestIdOf,
    clientErrorHandler: answerMalformed,
    frameworkErrors: problems.answer.bind(problems),
  });
  const options = { logger: nestLogger(logger), abortOnError: false, bodyParser: false };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  requireDtos(app.get(ModulesContainer));

  const server = adapter.getInstance();
  // A web page may send texts and forms to any origin without a preflight. Without `bodyParser`,
  // Nest adds no parser for forms.
  server.removeContentTypeParser('text/plain');
  // Node would answer 417 without a body.
  server.server.on('checkExpectation', (...sent) => server.server.emit('request', ...sent));
  server.addHook('onRoute', (route) => {
    if (route.url === '*') return; // the route of CORS
    requireScope(route);
    problems.addRoute(route);
  });
  logRequests(server, logger);
  refuseMalformed(server);
  if (tokens !== undefined) requireTokens(server, tokens);

  // Brotli saves about a tenth of the bytes of gzip, and takes more CPU for small answers.
  await app.register(compress as never, { encodings: ['gzip', 'deflate'] });
  if (httpCors.length > 0)
    app.enableCors({
      origin: httpCors.includes('*') ? '*' : [...httpCors],
      exposedHeaders: EXPOSED_HEADERS,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      strictPreflight: false, // answers an incomplete preflight like any other
    });
  return app.useGlobalPipes(new RequestPipe()).useGlobalFilters(problems);
}

const EXPOSED_HEADERS = ['etag', 'age', 'retry-after', 'x-request-id', 'www-authenticate'];

/** The id that the client gave its request, or a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Gives each answer the id of its request, and logs it at the level `debug`. */
function logRequests(server: FastifyInstance, logger: Logger): void {
  server.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  server.addHook('onResponse', ({ id, method, url }, { statusCode, elapsedTime }, done) => {
    logger.debug(`${method} ${url} ${statusCode}`, { requestId: id, ms: elapsedTime });
    done();
  });
}

/**
 * Refuses requests without a host, and malformed percent-encoding. Fastify checks only the path of
 * a URL. Runs after the hook of CORS.
 */
function refuseMalformed(server: FastifyInstance): void {
  server.addHook('preParsing', ({ url, raw }, _reply, _payload, done) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      done(new ProblemError('BAD_REQUEST', 'the request has no header Host; send one'));
      return;
    }
    try {
      if (url.includes('%')) decodeURIComponent(url);
      done();
    } catch {
      const detail = `${url} has percent-encoding that is not UTF-8; write a percent sign as %25`;
      done(new ProblemError('BAD_REQUEST', detail));
    }
  });
}

/** @throws Error for a route without a scope, which would otherwise be open by mistake */
function requireScope({ method, url, config }: RouteOptions): void {
  if (config?.scope === undefined)
    throw new Error(`${String(method)} ${url} has no scope; put @RequireScope on its handler`);
}

/**
 * Checks the token of a request: after the hook of CORS, which answers preflights, but before the
 * body is read, and before an answer comes from memory (in the hook `preValidation` of
 * `reads/answers.ts`). A request to an unknown path needs a known token with any scope.
 */
function requireTokens(server: FastifyInstance, tokens: Tokens): void {
  server.decorateRequest('tokenName');
  server.addHook('preParsing', (request, _reply, _payload, done) => {
    const { scope } = request.routeOptions.config;
    let refusal: ProblemError | undefined;
    try {
      if (scope !== 'none') request.tokenName = tokens.nameOf(request.headers.authorization, scope);
    } catch (error) {
      refusal = error as ProblemError;
    }
    done(refusal);
  });
}

/**
 * Listens at the host and port of the settings.
 * @throws SettingsError if that is impossible
 */
export async function listen(
  server: FastifyInstance,
  settings: Settings,
  name: 'http' | 'operations',
  logger: Logger,
): Promise<void> {
  const host = settings[`${name}Host`];
  const port = settings[`${name}Port`];
  const url = await server.listen({ host, port }).catch((error: unknown) => {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const isWrongHost = ['EADDRNOTAVAIL', 'ENOTFOUND'].includes(code);
    const setting = isWrongHost ? (`${name}Host` as const) : (`${name}Port` as const);
    const wayOut = isWrongHost
      ? 'use an address of this machine, or 0.0.0.0 for all of them'
      : 'use another port, or 0 for any free one';
    throw new SettingsError([
      `${variableOf(setting)}: can't listen on ${host}:${port} (${code || message}); ${wayOut}`,
    ]);
  });
  logger.info(`${name === 'http' ? 'HTTP' : 'health and metrics'} at ${url}`);
}
