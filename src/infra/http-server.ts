import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import compress from '@fastify/compress';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SettingsError, type Settings } from '../config/settings.js';
import { nestLogger, type Logger } from './logger.js';
import { ProblemsFilter } from './problems.filter.js';
import { ProblemError } from './problems.js';
import { answerMalformed, RoutePaths } from './refused-requests.js';
import { compileRequestSchema } from './request-validation.js';

/** The name of a board and the id of a player have up to 128 bytes, and each may be percent-encoded. */
const MAX_PARAMETER_LENGTH = 3 * 128;

/** A thousand ids of players, with each character escaped. */
const MAX_BODY_BYTES = 1_048_576;

/** The Nest application of the process, on Fastify. It does not listen yet. */
export async function createHttpApplication(
  module: DynamicModule,
  logger: Logger,
  { httpCors = [] }: Partial<Pick<Settings, 'httpCors'>> = {},
): Promise<NestFastifyApplication> {
  const paths = new RoutePaths(MAX_PARAMETER_LENGTH);
  const problems = new ProblemsFilter(logger, paths);
  const adapter = new FastifyAdapter({
    // A client that keeps its connection open must not delay the shutdown.
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: requestIdOf,
    clientErrorHandler: answerMalformed,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      problems.answer(error, request, reply);
    },
  });
  const options = { logger: nestLogger(logger), abortOnError: false, bodyParser: false };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  const server = adapter.getInstance();
  // Nest would add forms. A web page may send forms and texts to any origin, without a preflight.
  server.removeContentTypeParser('text/plain');
  // Node would answer 417 without a body.
  server.server.on('checkExpectation', (...sent) => server.server.emit('request', ...sent));
  server.setValidatorCompiler(compileRequestSchema as never);
  server.setSerializerCompiler(() => (body) => JSON.stringify(body));
  server.addHook('onRoute', (route) => {
    if (route.url !== '*') paths.add(route); // that of CORS
  });
  logRequests(server, logger);
  refuseMalformedUrls(server);
  // Brotli saves about a tenth of the bytes of gzip, and takes more CPU for small answers.
  await app.register(compress as never, { encodings: ['gzip', 'deflate'] });
  if (httpCors.length > 0)
    app.enableCors({
      ...{ origin: httpCors.includes('*') ? '*' : [...httpCors], exposedHeaders },
      strictPreflight: false, // answers an incomplete preflight like any other
    });
  return app.useGlobalFilters(problems);
}

const exposedHeaders = ['etag', 'age', 'retry-after', 'x-request-id'];

/** The id that the client gave its request, or a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Logs each answer at the level `debug`; gives it the id of its request. */
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

/** Fastify checks the path of a URL, and takes malformed percent-encoding in its query as it is. Runs after the hook of CORS. */
function refuseMalformedUrls(server: FastifyInstance): void {
  server.addHook('preParsing', ({ url }, _reply, _payload, done) => {
    try {
      if (url.includes('%')) decodeURIComponent(url);
      done();
    } catch {
      const detail = `${url} has percent-encoding that is not UTF-8; write a percent sign as %25`;
      done(new ProblemError('BAD_REQUEST', detail));
    }
  });
}

/** @throws SettingsError if the process cannot listen where the settings say */
export async function listen(
  app: NestFastifyApplication,
  { httpHost, httpPort }: Pick<Settings, 'httpHost' | 'httpPort'>,
  logger: Logger,
): Promise<void> {
  await app.listen(httpPort, httpHost).catch((error: unknown) => {
    throw listenError(error as NodeJS.ErrnoException, `${httpHost}:${httpPort}`);
  });
  logger.info(`health and metrics at ${await app.getUrl()}`);
}

function listenError({ code = '', message }: NodeJS.ErrnoException, address: string) {
  const [setting, wayOut] = ['EADDRNOTAVAIL', 'ENOTFOUND'].includes(code)
    ? ['HOST', 'use an address of this machine, or 0.0.0.0 for all of them']
    : ['PORT', 'use another port, or 0 for any free one'];
  return new SettingsError([
    `RANKLOG_HTTP_${setting}: can't listen on ${address} (${code || message}); ${wayOut}`,
  ]);
}
