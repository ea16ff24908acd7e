import { expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  createParamDecorator,
  Get,
  Module,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { IsInt } from 'class-validator';
import { loggerTo } from '../../../test/support/loggers.js';
import { ViewQuery } from '../dto/requests.js';
import type { NoQuery as ImportedType } from '../dto/requests.js';
import { createHttpApplication } from './http-server.js';
import { Read, RequireScope } from './route.js';

@Controller('open')
class WithoutScope {
  @Get(':id')
  read() {
    return {};
  }
}

@Controller()
class WithType {
  @RequireScope('read')
  @Get()
  read(@Query() query: ImportedType) {
    return query;
  }
}

@Controller()
class WithPick {
  @RequireScope('write')
  @Post()
  write(@Body() body: Pick<ViewQuery, 'view'>) {
    return body;
  }
}

@Controller()
class WithNumber {
  @RequireScope('read')
  @Get(':id')
  read(@Param('id') id: number) {
    return id;
  }
}

@Controller()
class WithOneParameter {
  @RequireScope('read')
  @Get()
  read(@Query('limit') limit: string) {
    return limit;
  }
}

@Controller()
class WithWholePath {
  @RequireScope('read')
  @Get(':id')
  read(@Param() id: string) {
    return id;
  }
}

class PlainQuery {
  @IsInt() limit: number;
}

@Controller()
class WithPlainDecorators {
  @RequireScope('read')
  @Get()
  read(@Query() query: PlainQuery) {
    return query;
  }
}

/** Ids of such decorators are random, and may begin with a digit. */
const Custom = createParamDecorator(() => 'x');

@Controller()
class WithCustomDecorator {
  @RequireScope('read')
  @Get()
  read(@Custom() first: string, @Custom() second: string) {
    return first + second;
  }
}

@Module({})
class App {}

/** Starts an application with a controller. */
async function start(controller: new () => object): Promise<void> {
  const module = { module: App, controllers: [controller] };
  const logger = loggerTo(() => undefined);
  const app = await createHttpApplication(module, logger);
  try {
    await app.init();
  } finally {
    await app.close();
  }
}

it('a start refuses a route without a scope', async () => {
  const problem = 'GET /open/:id has no scope; put @RequireScope on its handler';
  await expect(start(WithoutScope)).rejects.toThrow(problem);
});

it.each([
  [WithType, 'WithType.read: its @Query has no DTO class'],
  [WithPick, 'WithPick.write: its @Body has no DTO class'],
  [WithNumber, 'WithNumber.read: its @Param has no DTO class'],
  [WithWholePath, 'WithWholePath.read: its @Param has no DTO class'],
  [WithPlainDecorators, 'PlainQuery.limit has no decorator of src/query/dto/fields.ts'],
  [WithOneParameter, 'WithOneParameter.read: its @Query has no DTO class'],
])('a start refuses %p, whose input nothing would check', async (controller, problem) => {
  await expect(start(controller)).rejects.toThrow(problem);
});

it('a start leaves decorators of parameters alone that are made by createParamDecorator', async () => {
  for (const digit of '345') {
    const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, WithCustomDecorator, 'read') as object;
    const keyed = Object.entries(args).map(([key, value]) => [digit + key, value] as const);
    const named = Object.fromEntries(keyed) as object;
    Reflect.defineMetadata(ROUTE_ARGS_METADATA, named, WithCustomDecorator, 'read');
    await expect(start(WithCustomDecorator)).resolves.toBeUndefined();
  }
});

it('a documented route needs a @Query, as Nest would ignore unknown parameters', () => {
  expect(() => {
    class WithoutQuery {
      @Read('open', ViewQuery, 'Nothing')
      read() {
        return {};
      }
    }
    return WithoutQuery;
  }).toThrow('WithoutQuery.read has no @Query; if it takes no parameters, give it @Query() _');
});
