import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SettingsError, type Settings } from '../config/settings.js';
import { JsonErrorsFilter } from './json-errors.filter.js';
import { nestLogger, type Logger } from './logger.js';

/** The name of a board has up to 128 bytes, and each may be percent-encoded. */
const MAX_PARAMETER_LENGTH = 3 * 128;

/** The Nest application of the process, on Fastify. It does not listen yet. */
export async function createHttpApplication(
  module: DynamicModule,
  logger: Logger,
): Promise<NestFastifyApplication> {
  const errors = new JsonErrorsFilter(logger);
  const adapter = new FastifyAdapter({
    // A client that keeps its connection open must not delay the shutdown.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      errors.answer(error, request, reply);
    },
  });
  const options = { logger: nestLogger(logger), abortOnError: false };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  return app.useGlobalFilters(errors);
}

/** @throws SettingsError if the process cannot listen where the settings say */
export async function listen(
  app: NestFastifyApplication,
  { httpHost, httpPort }: Pick<Settings, 'httpHost' | 'httpPort'>,
  logger: Logger,
): Promise<void> {
  try {
    await app.listen(httpPort, httpHost);
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, httpHost, httpPort);
  }
  logger.info(`health and metrics at ${await app.getUrl()}`);
}

function listenError(
  { code = '', message }: NodeJS.ErrnoException,
  host: string,
  port: number,
): SettingsError {
  const [setting, wayOut] = ['EADDRNOTAVAIL', 'ENOTFOUND'].includes(code)
    ? ['HOST', 'use an address of this machine, or 0.0.0.0 for all of them']
    : ['PORT', 'use another port, or 0 for any free one'];
  return new SettingsError([
    `RANKLOG_HTTP_${setting}: can't listen on ${host}:${port} (${code || message}); ${wayOut}`,
  ]);
}
