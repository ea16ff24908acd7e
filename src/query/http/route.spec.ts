import { expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { loggerTo } from '../../../test/support/loggers.js';
import { createHttpApplication } from './http-server.js';

@Controller('open')
class OpenController {
  @Get(':id')
  read() {
    return {};
  }
}

@Module({})
class App {}

it('a start refuses a route without a scope', async () => {
  const module = { module: App, controllers: [OpenController] };
  const app = await createHttpApplication(
    module,
    loggerTo(() => undefined),
  );
  await expect(app.init()).rejects.toThrow(
    'GET /open/:id has no scope; put @RequireScope on its handler',
  );
  await app.close();
});
