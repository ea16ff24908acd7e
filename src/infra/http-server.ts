import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from './logger.js';
import { SettingsError, type Settings } from '../config/settings.js';
import { JsonErrorsFilter } from './json-errors.filter.js';

/** A board's name is up to 128 bytes, each of which may be percent-encoded. */
const LONGEST_PARAMETER = 3 * 128;

/** The Nest application of the process, on Fastify, which is loaded here: commands do without. Nothing listens yet. */
export async function createHttpApplication(
  module: DynamicModule,
  options: NestApplicationOptions,
  logger: Logger,
): Promise<NestFastifyApplication> {
  const { FastifyAdapter } = await import('@nestjs/platform-fastify');
  const errors = new JsonErrorsFilter(logger);
  const adapter = new FastifyAdapter({
    // A client that holds its connection must not hold the end of the process.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      errors.answer(error, request, reply);
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  return app.useGlobalFilters(errors);
}

/** Listens where the settings say. @throws SettingsError when it can't */
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

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const setting = error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? 'HOST' : 'PORT';
  const wayOut =
    setting === 'HOST'
      ? 'use an address of this machine, or 0.0.0.0 for all of them'
      : 'use another port, or 0 for any free one';
  return new SettingsError([
    `RANKLOG_HTTP_${setting}: can't listen on ${host}:${port} (${error.code ?? error.message}); ${wayOut}`,
  ]);
}
