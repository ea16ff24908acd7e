import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { TestInstance } from '../support/instance.js';
import { runCommand } from '../support/project.js';
import { BuiltImage } from '../deploy/image.js';
import { BuiltEntry, errorsInDocuments } from './declarations.js';
import { EmptyProject, output, pack } from './empty-project.js';

const tarballs = mkdtempSync(path.join(tmpdir(), 'ranklog-tarballs-'));
let service: string;
let client: string;
let reader: string;
let nestjs: string;
let http: string;
const projects: EmptyProject[] = [];

async function projectWith(packages: readonly string[], manifest?: object): Promise<EmptyProject> {
  const project = new EmptyProject(manifest);
  projects.push(project);
  await project.install(...packages);
  return project;
}

beforeAll(async () => {
  const names = ['client', 'reader', 'nestjs', 'http', 'testing'];
  const folders = names.map((name) => `./packages/${name}`);
  [service = '', client = '', reader = '', nestjs = '', http = ''] = await pack(folders, tarballs);
});
afterAll(() => {
  for (const project of projects) project.remove();
  rmSync(tarballs, { recursive: true });
});

describe('the packed ranklog', () => {
  let instance: TestInstance;
  let running: ChildProcess;
  let url: string;
  let program: EmptyProject;
  let user: EmptyProject;
  let shared: { name: string; brokers: string[]; redis: string };

  beforeAll(async () => {
    program = await projectWith([service]);
    expect(program.installed()).toEqual(['ranklog']);
    expect(await output('npx', ['--no', 'ranklog', '--version'], { cwd: program.folder })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
    instance = await TestInstance.create(
      'boards: { arena: { columns: [{ name: score }], windows: [all, week] } }',
    );
    let log = '';
    running = spawn('node_modules/.bin/ranklog', ['start'], {
      cwd: program.folder,
      env: {
        ...instance.env,
        ...{ RANKLOG_HTTP_PORT: '0', RANKLOG_OPERATIONS_PORT: '0', RANKLOG_QUERY_WRITES: 'true' },
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.stderr?.on('data', (data: Buffer) => (log += data.toString()));
    await eventually(() => log.includes('"running:'), 'the service runs');
    [, url = ''] = /"HTTP at (http:[^"]+)"/.exec(log) ?? [];
    user = await projectWith([client, reader, 'kafkajs@2.2.4', 'ioredis@5.11.1']);
    const { KAFKA_BROKERS = '', REDIS_URL: redis = '' } = process.env;
    shared = { name: instance.name, brokers: KAFKA_BROKERS.split(','), redis };
  });
  afterAll(async () => {
    running.kill('SIGTERM');
    await once(running, 'exit');
    await instance.remove();
  });

  it('lists the packages that it contains, and has no source maps', () => {
    const files = program.list('node_modules/ranklog/dist/cli');
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
    // For `ranklog dev`
    expect(program.list('node_modules/ranklog')).toContain('docker-compose.yml');
    const licences = program.read('node_modules/ranklog/dist/cli/THIRD-PARTY.txt');
    const contained = [...licences.matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)];
    const { components } = JSON.parse(program.read('node_modules/ranklog/sbom.cdx.json')) as {
      components: { name: string; version: string }[];
    };
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    const names = contained.map(([, name, version]) => `${name}@${version}`);
    expect(names).toContain('kafkajs@2.2.4');
    expect(listed).toEqual(expect.arrayContaining(names));
  });

  it('checks a query and a body, and describes itself, without any package beside it', async () => {
    const query = await fetch(`${url}/v1/boards/arena/standings?limit=many`);
    const detail = 'limit must be a whole number from 0 to 1000, not "many"';
    expect(await query.json()).toMatchObject({ code: 'INVALID_REQUEST', detail });
    const body = '{"requests":[{"board":"arena","gaps":"yes"}]}';
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body };
    const refused = await fetch(`${url}/v1/players/ada/standings`, post);
    expect(await refused.json()).toMatchObject({ code: 'INVALID_REQUEST' });
    const document = await (await fetch(`${url}/openapi.json`)).json();
    expect(document).toEqual(JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')));
    const schema = 'schemas/score-event.schema.json';
    const served = await (await fetch(`${url}/${schema}`)).text();
    const print = `console.log(JSON.stringify(require('ranklog/${schema}')));`;
    expect(JSON.parse(await program.run('schema.cjs', print))).toEqual(JSON.parse(served));
  });

  it('is not what npm packs in the folder of the clone', async () => {
    const { exitCode, stderr } = await runCommand('npm', ['pack', '--dry-run']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('run npm run package'),
    });
  });

  const sendAndRead = (name: string) => `
    const { name, brokers, redis: url } = ${JSON.stringify(shared)};
    async function main() {
      const kafka = new Kafka({ brokers, logLevel: 0 });
      const producer = new ScoreProducer({ kafka, topicPrefix: name, ranklogGroup: name });
      await producer.connect();
      const event = { board: 'arena', playerId: ${JSON.stringify(name)}, delta: 10 };
      const { status } = await producer.sendAndWait(event, { timeoutMs: 60_000 });
      await producer.disconnect();
      const redis = new Redis(url);
      const reader = new BoardReader({ redis, prefix: name });
      const { standing } = await reader.player('arena', ${JSON.stringify(name)});
      const unknown = await reader.standings('none').catch((error) => error instanceof UnknownBoardError);
      await redis.quit();
      console.log(JSON.stringify({ status, columns: standing?.columns, unknown }));
    }
    main().catch((error) => { console.error(error); process.exit(1); });`;
  const answer = { status: 'ranked', columns: { score: '10' }, unknown: true };

  it('is written and read by an ECMAScript module', async () => {
    const text = `import { Kafka } from 'kafkajs'; import { Redis } from 'ioredis';
      import { ScoreProducer } from '@ranklog/client';
      import { BoardReader, UnknownBoardError } from '@ranklog/reader';${sendAndRead('ada')}`;
    expect(JSON.parse(await user.run('main.mjs', text))).toEqual(answer);
  });

  it('is written and read by CommonJS', async () => {
    const text = `const { Kafka } = require('kafkajs'); const { Redis } = require('ioredis');
      const { ScoreProducer } = require('@ranklog/client');
      const { BoardReader, UnknownBoardError } = require('@ranklog/reader');${sendAndRead('bob')}`;
    expect(JSON.parse(await user.run('main.cjs', text))).toEqual(answer);
  });

  it.each(['cjs', 'mjs'])('is written and read by an application of Nest 12 (%s)', async (kind) => {
    const nest = ['@nestjs/common@12.1.1', '@nestjs/core@12.1.1', 'reflect-metadata@0.2.2'];
    const app = await projectWith(
      [nestjs, ...nest, 'rxjs@7.8.2', 'kafkajs@2.2.4', 'ioredis@5.11.1'],
      { overrides: { 'file-type': '21.3.4' } }, // the version that Nest 12 asks for needs Node 22
    );
    const load = (names: string, from: string) => {
      return kind === 'mjs'
        ? `import ${names} from '${from}';`
        : `const ${names} = require('${from}');`;
    };
    const text = `${load('{ NestFactory }', '@nestjs/core')} ${load('{ Kafka }', 'kafkajs')}
      ${load('{ Redis }', 'ioredis')}
      ${load('{ BoardReader, RanklogModule, ScoreProducer }', '@ranklog/nestjs')}
      const { name, brokers, redis: url } = ${JSON.stringify(shared)};
      async function main() {
        const kafka = new Kafka({ brokers, logLevel: 0 });
        const redis = new Redis(url);
        const options = { kafka, redis, topicPrefix: name, redisPrefix: name, ranklogGroup: name };
        const app = await NestFactory.createApplicationContext(RanklogModule.forRoot(options), { logger: false });
        const event = { board: 'arena', playerId: 'dan-${kind}', delta: 10 };
        const { status } = await app.get(ScoreProducer).sendAndWait(event, { timeoutMs: 60_000 });
        const { standing } = await app.get(BoardReader).player('arena', event.playerId);
        await app.close();
        await redis.quit();
        console.log(JSON.stringify({ status, columns: standing?.columns }));
      }
      main().catch((error) => { console.error(error); process.exit(1); });`;
    const { status, columns } = answer;
    expect(JSON.parse(await app.run(`main.${kind}`, text))).toEqual({ status, columns });
    // which only @ranklog/nestjs/dto needs
    expect(app.installed()).not.toContain('class-validator');
  });

  it('is written and read by an application of Nest 11, which gets the rank change', async () => {
    const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@11`);
    nest.push('reflect-metadata@0.2.2', 'rxjs@7.8.2');
    const tools = ['typescript@6.0.3', '@types/node@20.19.43'];
    const project = await projectWith(
      [nestjs, 'kafkajs@2.2.4', 'ioredis@5.11.1', ...nest, ...tools],
      { type: 'module' },
    );
    project.write('main.ts', nestApplication(shared));
    const flags = ['--strict', '--experimentalDecorators', '--emitDecoratorMetadata'];
    const kind = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    const compiler = 'node_modules/.bin/tsc';
    await output(compiler, [...flags, ...kind, '--skipLibCheck', 'main.ts'], {
      cwd: project.folder,
    });
    const printed = await output(process.execPath, ['main.js'], { cwd: project.folder });
    expect(JSON.parse(printed)).toEqual({
      ...{ got: 'cyd', rank: 1, health: 'up' },
      problem: { status: 404, code: 'NO_SUCH_VIEW', suggestion: 'week' },
    });
  });
});

/**
 * The text of an application that sends more points than other tests, and prints what a handler,
 * the reader, the health and an answer of Express say.
 */
function nestApplication(shared: { name: string; brokers: string[]; redis: string }): string {
  return `import 'reflect-metadata';
    import { Controller, Get, Module, Query } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    import { Redis } from 'ioredis';
    import kafkajs from 'kafkajs';
    import { BoardReader, OnRankChange, RanklogExceptionFilter, RanklogHealth, RanklogModule, ScoreProducer, type RankChange } from '@ranklog/nestjs';
    const { name, brokers, redis: url } = ${JSON.stringify(shared)};
    const kafka = new kafkajs.Kafka({ brokers, logLevel: 0 });
    const redis = new Redis(url);
    let take: (change: RankChange) => void = () => undefined;
    const taken = new Promise<RankChange>((resolve) => (take = resolve));
    @Controller()
    class Badges {
      constructor(readonly boards: BoardReader, readonly producer: ScoreProducer, readonly health: RanklogHealth) {}
      @Get()
      top(@Query('window') window: string) { return this.boards.standings('arena', { window }); }
      @OnRankChange({ board: 'arena' })
      award(change: RankChange): void { if (change.playerId === 'cyd') take(change); }
      // @ts-expect-error -- a handler of rank changes gets a rank change
      @OnRankChange({ board: 'none' })
      wrong(change: string): string { return change; }
    }
    const names = { topicPrefix: name, redisPrefix: name, ranklogGroup: name };
    @Module({ imports: [RanklogModule.forRoot({ kafka, redis, ...names, groupId: name + '-badges' })], controllers: [Badges] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    app.useGlobalFilters(new RanklogExceptionFilter());
    await app.listen(0, '127.0.0.1');
    const answer = await fetch(await app.getUrl() + '/?window=weekk');
    const { status, code, suggestion } = await answer.json() as Record<string, unknown>;
    const { boards, producer, health } = app.get(Badges);
    await producer.send([{ board: 'arena', playerId: 'cyd', delta: '100' }]);
    const { playerId: got } = await taken;
    const { standing } = await boards.player('arena', 'cyd');
    const { ranklog } = await health.isHealthy('ranklog');
    await app.close();
    redis.disconnect();
    console.log(JSON.stringify({ got, rank: standing?.rank, health: ranklog.status, problem: { status, code, suggestion } }));`;
}

describe('@ranklog/client', () => {
  let project: EmptyProject;
  beforeAll(async () => {
    project = await projectWith([client, 'kafkajs@2.2.4']);
  });

  it('installs nothing besides kafkajs and lossless-json', () => {
    expect(project.installed()).toEqual(['@ranklog/client', 'kafkajs', 'lossless-json']);
  });

  it('exports the same for import and require', async () => {
    const text = `import { createRequire } from 'node:module'; import * as all from '@ranklog/client';
      const required = createRequire(import.meta.url)('@ranklog/client');
      console.log(Object.keys(all).length, Object.entries(all).every(([key, value]) => required[key] === value));`;
    expect(await project.run('same.mjs', text)).toMatch(/^[1-9]\d* true\n$/);
  });

  it.each(['import', 'require'])(
    'costs at most 1.5 times the CPU of kafkajs to %s',
    async (how) => {
      const load = (name: string) => {
        return how === 'import' ? `await import('${name}')` : `require('${name}')`;
      };
      const cost = async (name: string) => {
        const text = `const before = process.cpuUsage(); ${load(name)}; console.log(process.cpuUsage(before).user);`;
        return Number(await project.run(how === 'import' ? 'cost.mjs' : 'cost.cjs', text));
      };
      const sums = { ours: 0, kafkajs: 0 };
      for (let run = 0; run < 10; run++) {
        sums.kafkajs += await cost('kafkajs');
        sums.ours += await cost('@ranklog/client');
      }
      const ratio = sums.ours / sums.kafkajs;
      process.stderr.write(
        `@ranklog/client costs ${ratio.toFixed(2)} times the CPU of kafkajs to ${how}\n`,
      );
      expect(ratio).toBeLessThanOrEqual(1.5);
    },
  );
});

describe('@ranklog/nestjs/dto', () => {
  const VALIDATES = `
    const pipe = new ValidationPipe({ transform: true });
    const receive = (json) => pipe.transform(JSON.parse(json), { type: 'body', metatype: ScoreEventDto });
    async function main() {
      const event = await receive('{"board":"arena","playerId":"ada","delta":1,"attributes":{"toString":"eu"}}');
      const problems = await receive('{"board":"arena","playerId":"","delta":1}').catch((error) => error.getResponse().message);
      console.log(JSON.stringify({ isDto: event instanceof ScoreEventDto, event, problems }));
    }
    main().catch((error) => { console.error(error); process.exit(1); });`;
  // The DTOs come first: they need reflect-metadata before Nest loads it.
  const IMPORTS = `import { ScoreEventDto } from '@ranklog/nestjs/dto';
    import { ValidationPipe } from '@nestjs/common';`;
  const REQUIRES = `const { ScoreEventDto } = require('@ranklog/nestjs/dto');
    const { ValidationPipe } = require('@nestjs/common');`;
  const TYPED = `import { RankChangeDto, ScoreEventDto } from '@ranklog/nestjs/dto';
    import type { RankChange, ScoreEvent } from '@ranklog/nestjs';
    export const event: ScoreEvent = new ScoreEventDto();
    export const change: RankChange = new RankChangeDto();`;

  it.each([
    ['12.1.1', '0.15.1'],
    ['11', '0.14'],
  ])('validates events in services of Nest %s with class-validator %s', async (nest, validator) => {
    const validators = [`class-validator@${validator}`, 'class-transformer@0.5.1'];
    const project = await projectWith(
      [
        ...[nestjs, `@nestjs/common@${nest}`, `@nestjs/core@${nest}`, 'reflect-metadata@0.2.2'],
        ...['rxjs@7.8.2', 'kafkajs@2.2.4', 'ioredis@5.11.1', ...validators],
        ...['typescript@6.0.3', '@types/node@20.19.43'],
      ],
      { overrides: { 'file-type': '21.3.4' } },
    );
    const expected = {
      isDto: true,
      event: { board: 'arena', playerId: 'ada', delta: 1, attributes: { toString: 'eu' } },
      problems: [expect.stringMatching(/^playerId must be a string of 1 to 128 bytes/)],
    };
    const imported = await project.run('main.mjs', `${IMPORTS}${VALIDATES}`);
    expect(JSON.parse(imported)).toEqual(expected);
    const bundled = project.read('node_modules/@ranklog/nestjs/dist/THIRD-PARTY.txt');
    expect(bundled).not.toMatch(/^class-/m); // a copy would have decorators of its own
    const required = await project.run('main.cjs', `${REQUIRES}${VALIDATES}`);
    expect(JSON.parse(required)).toEqual(expected);
    project.write('typed.mts', TYPED);
    project.write('typed.ts', TYPED);
    const compile = (...args: string[]) =>
      output('node_modules/.bin/tsc', ['--strict', '--noEmit', '--skipLibCheck', ...args], {
        cwd: project.folder,
      });
    await compile(
      '--module',
      'nodenext',
      '--types',
      'node',
      '--exactOptionalPropertyTypes',
      'typed.mts',
    );
    const older = ['--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'];
    await compile('--module', 'commonjs', ...older, '--types', 'node', 'typed.ts');
  });
});

describe('@ranklog/http', () => {
  it('is one file without imports, and needs no types of Node or of browsers', async () => {
    const project = await projectWith([http, 'typescript@6.0.3']);
    expect(project.installed()).toEqual(['@ranklog/http', 'typescript']);
    const text = `import { HttpBoardReader, type Standings } from '@ranklog/http';
      const reader = new HttpBoardReader({ url: 'http://127.0.0.1:1' });
      export const top: Promise<Standings> = reader.standings('arena', { limit: 10 });`;
    project.write('typed.mts', text);
    const flags = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022'];
    await output('node_modules/.bin/tsc', [...flags, '--module', 'nodenext', 'typed.mts'], {
      cwd: project.folder,
    });
    // A module that is loaded from a text, as a browser loads one, can't import another file.
    const refused = `import { readFileSync } from 'node:fs';
      const code = readFileSync('node_modules/@ranklog/http/dist/index.mjs', 'utf8');
      const { HttpBoardReader } = await import('data:text/javascript,' + encodeURIComponent(code));
      await new HttpBoardReader({ url: 'http://127.0.0.1:1' }).count('arena').catch(({ code }) => console.log(code));`;
    expect(await project.run('refused.mjs', refused)).toBe('UNREACHABLE\n');
  });
});

describe('both libraries', () => {
  let project: EmptyProject;
  beforeAll(async () => {
    const tools = ['typescript@6.0.3', '@types/node@20.19.43'];
    project = await projectWith([client, reader, 'kafkajs@2.2.4', 'ioredis@5.11.1', ...tools]);
  });

  const TYPED = `import { Kafka } from 'kafkajs'; import { Redis } from 'ioredis';
    import { RankChangeSubscriber, ScoreProducer, type RankChange, type ScoreEvent } from '@ranklog/client';
    import { BoardReader, UnknownBoardError, type Standings } from '@ranklog/reader';
    const kafka = new Kafka({ brokers: [] });
    const event: ScoreEvent = { board: 'arena', playerId: 'ada', delta: 10 };
    export const sent: Promise<{ readonly offset: number }[]> = new ScoreProducer({ kafka }).send([event]);
    export const read: Promise<Standings> = new BoardReader({ redis: new Redis() }).standings('arena', { limit: 10 });
    export const subscriber = new RankChangeSubscriber({ kafka, groupId: 'g' });
    void subscriber.start(({ changes }: RankChange) => { const rank: number | undefined = changes[0]?.after?.rank; void rank; });
    export const isUnknown = (error: unknown) => error instanceof UnknownBoardError && error.board;
    // @ts-expect-error -- an unknown option
    new BoardReader({ redis: new Redis(), limit: 1 });`;

  it.each([
    ['node16', 'typed.mts'],
    ['node16', 'typed.cts'],
    ['nodenext', 'typed.mts'],
    ['nodenext', 'typed.cts'],
    ['bundler', 'typed.ts'],
  ])('have types under %s for %s', async (moduleResolution, file) => {
    project.write(file, TYPED);
    const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
    const flags = [
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--types',
      'node',
      '--skipLibCheck',
    ];
    const kind = ['--module', module, '--moduleResolution', moduleResolution];
    await output('node_modules/.bin/tsc', [...flags, ...kind, file], { cwd: project.folder });
  });

  it.each(['client', 'reader'])('@ranklog/%s has licences, and sources in its map', (name) => {
    const folder = `node_modules/@ranklog/${name}`;
    expect(project.read(`${folder}/LICENSE`)).toContain('Apache License');
    const map = JSON.parse(project.read(`${folder}/dist/index-code.cjs.map`)) as {
      sources: string[];
      sourcesContent: (string | null)[];
    };
    expect(map.sources.some((source) => source.endsWith('.ts'))).toBe(true);
    expect(map.sourcesContent).toHaveLength(map.sources.length);
    expect(map.sourcesContent.every((text) => typeof text === 'string' && text !== '')).toBe(true);
    const bundled = map.sources.some((source) => source.includes('node_modules'));
    expect(project.list(`${folder}/dist`).includes('THIRD-PARTY.txt')).toBe(bundled);
  });
});

describe('the types of the packages', () => {
  it.each([
    'client/dist/index',
    'reader/dist/index',
    'nestjs/dist/index',
    'nestjs/dist/dto',
    'nestjs/dist/testing',
    'testing/dist/index',
    'http/dist/index',
  ])('declare the values that the code exports, and no others: %s', async (entry) => {
    const built = new BuiltEntry(entry);
    const exported = await built.required();
    expect(exported.length).toBeGreaterThan(0);
    expect(built.declared()).toEqual({ exported, internal: [] });
  });

  it('have the errors that the documents name', async () => {
    const entries = ['nestjs/dist/index', 'http/dist/index'].map((name) => new BuiltEntry(name));
    const exported = (await Promise.all(entries.map((entry) => entry.required()))).flat();
    const named = errorsInDocuments();
    expect(named).toContain('GroupInUseError');
    expect(exported).toEqual(expect.arrayContaining(named));
  });
});

describe('the Dockerfile', () => {
  it('installs, builds and runs with nothing but what npm installs', async () => {
    const image = new BuiltImage();
    const env = { ...process.env, npm_config_prefer_offline: 'true' };
    await image.build((command, cwd) => output('sh', ['-c', command], { cwd, env }));
    const [node = '', ...args] = image.entrypoint();
    expect(await output(node, [...args, '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
    image.remove();
  });
});
