// @ts-check
// `npm run openapi`: writes docs/reference/openapi.json, the description of the reads over HTTP, from the compiled code.
import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { Module } from '@nestjs/common';
import { format, resolveConfig } from 'prettier';
import { ensureBuild } from './with-setup.mjs';

const FILE = 'docs/reference/openapi.json';

await ensureBuild();
const { createHttpApplication } = await import('../dist/src/infra/http-server.js');
const { SILENT } = await import('../dist/src/infra/logger.js');
const { SETTINGS } = await import('../dist/src/infra/config.module.js');
const { describeRoutes } = await import('../dist/src/standings/openapi.js');
const { READ_CONTROLLERS } = await import('../dist/src/standings/standings.module.js');
const { LiveStreams } = await import('../dist/src/live/live-streams.js');
const { WritesController } = await import('../dist/src/writes/writes.controller.js');
const { ScoreProducer } = await import('../dist/libs/client/index.js');
const { BoardReader } = await import('../dist/libs/board-store/index.js');

function App() {
  // an empty module
}
Module({})(App);
/** @type {import('@nestjs/common').DynamicModule} */
const module = {
  module: /** @type {import('@nestjs/common').Type} */ (/** @type {unknown} */ (App)),
  controllers: [...READ_CONTROLLERS, WritesController],
  providers: [BoardReader, LiveStreams, ScoreProducer, SETTINGS].map((provide) => ({
    provide,
    useValue: {},
  })), // no read is answered
};
const app = await createHttpApplication(module, SILENT);
await describeRoutes(app);
await app.init();
const { payload } = await app.inject('/openapi.json');
await app.close();
await writeFile(FILE, await format(payload, { ...(await resolveConfig(FILE)), parser: 'json' }));
