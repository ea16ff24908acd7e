// @ts-check
// The OpenAPI document of the reads and writes over HTTP, from the compiled code.
import 'reflect-metadata';
import { Module } from '@nestjs/common';

/**
 * A compiled module; its types are those of its source, as dist/ may not exist when types are
 * checked. @param {string} file
 */
const compiled = (file) => import(new URL(file, import.meta.url).href);
/** @type {typeof import('../../src/query/http/http-server.js')} */
const { createHttpApplication } = await compiled('../../dist/src/query/http/http-server.js');
/** @type {typeof import('../../src/infra/kafka.js')} */
const { KafkaConnection } = await compiled('../../dist/src/infra/kafka.js');
/** @type {typeof import('../../src/infra/logger.js')} */
const { Logger, SILENT } = await compiled('../../dist/src/infra/logger.js');
/** @type {typeof import('../../src/infra/config.module.js')} */
const { SETTINGS } = await compiled('../../dist/src/infra/config.module.js');
/** @type {typeof import('../../src/infra/connections.module.js')} */
const { ReadStores } = await compiled('../../dist/src/infra/connections.module.js');
/** @type {typeof import('../../src/query/http/openapi.js')} */
const { describeRoutes } = await compiled('../../dist/src/query/http/openapi.js');
/** @type {typeof import('../../src/query/query.module.js')} */
const { READ_CONTROLLERS } = await compiled('../../dist/src/query/query.module.js');
/** @type {typeof import('../../src/query/status/periods.controller.js')} */
const { KeptPeriods } = await compiled('../../dist/src/query/status/periods.controller.js');
/** @type {typeof import('../../src/infra/metrics.js')} */
const { Metrics } = await compiled('../../dist/src/infra/metrics.js');
/** @type {typeof import('../../src/query/live/live-streams.js')} */
const { LiveStreams } = await compiled('../../dist/src/query/live/live-streams.js');
/** @type {typeof import('../../src/query/writes/writes.module.js')} */
const { WRITE_CONTROLLERS } = await compiled('../../dist/src/query/writes/writes.module.js');
/** @type {typeof import('../../libs/client/index.js')} */
const { ModerationProducer, ScoreProducer } = await compiled('../../dist/libs/client/index.js');
/** @type {typeof import('../../libs/board-store/index.js')} */
const { BoardReader, IdentityCheck } = await compiled('../../dist/libs/board-store/index.js');

function App() {
  // an empty module
}
Module({})(App);
/** @type {import('@nestjs/common').DynamicModule} */
const module = {
  module: /** @type {import('@nestjs/common').Type} */ (/** @type {unknown} */ (App)),
  controllers: [...READ_CONTROLLERS, ...WRITE_CONTROLLERS],
  providers: [
    Metrics,
    ...[
      ...[BoardReader, LiveStreams, Logger, ModerationProducer, ScoreProducer, SETTINGS],
      ...[IdentityCheck, KafkaConnection, KeptPeriods, ReadStores],
    ].map((provide) => ({ provide, useValue: {} })), // no read is answered
  ],
};

/** The document as JSON. @returns {Promise<string>} */
export async function openApi() {
  const app = await createHttpApplication(module, SILENT);
  describeRoutes(app);
  await app.init();
  const { payload, statusCode } = await app.inject('/openapi.json');
  await app.close();
  if (statusCode !== 200) throw new Error(payload);
  return payload;
}
