import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { PROJECT } from '../support/project.js';

const COMMANDS = 'src/cli/commands';
/** Packages that take longer to load than most commands take. */
const LARGE =
  /^(@nestjs\/(common|core|swagger)|class-(transformer|validator)|fastify|ioredis|kafkajs|prom-client)(?=\/|$)/;

/** The large packages that each command loads before it begins, by its file. All load `main`. */
async function loadedPackages(): Promise<Record<string, string>> {
  const names = readdirSync(path.join(PROJECT, COMMANDS));
  const commands = names.filter((name) => /(?<!\.spec)\.ts$/.test(name));
  const entryPoints = [...commands.map((name) => `${COMMANDS}/${name}`), 'src/cli/main.ts'];
  const { metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints,
    outdir: 'dist',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['ranklog-source'],
    packages: 'external',
    external: ['#package', '#boards-schema'],
  });
  const { outputs } = metafile;
  const loaded = (file: string, seen = new Set<string>()): string[] => {
    if (seen.has(file)) return [];
    seen.add(file);
    const imports = outputs[file]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
    return imports.flatMap((one) => (one.external === true ? one.path : loaded(one.path, seen)));
  };
  return Object.fromEntries(
    Object.entries(outputs)
      .filter(([, { entryPoint = '' }]) => entryPoints.includes(entryPoint))
      .map(([file, { entryPoint = '' }]) => {
        const large = loaded(file).flatMap((name) => LARGE.exec(name)?.[0] ?? []);
        return [path.basename(entryPoint, '.ts'), [...new Set(large)].sort().join(' ')];
      }),
  );
}

it('each command loads only the packages that it needs', async () => {
  expect(await loadedPackages()).toEqual({
    main: '',
    'boards-check': '',
    'boards-show': '',
    config: '',
    size: '',
    export: 'ioredis',
    rank: 'ioredis',
    standings: 'ioredis',
    views: 'ioredis',
    'dead-letters': 'ioredis kafkajs',
    explain: 'ioredis kafkajs',
    watch: 'ioredis kafkajs',
    // Classes that the service injects, too, have decorators of Nest.
    'boards-apply': '@nestjs/common ioredis kafkajs',
    'boards-generations': '@nestjs/common ioredis kafkajs',
    'boards-verify': '@nestjs/common ioredis kafkajs',
    'dead-letters-retry': '@nestjs/common ioredis kafkajs',
    doctor: '@nestjs/common ioredis kafkajs',
    import: '@nestjs/common ioredis kafkajs',
    periods: '@nestjs/common ioredis kafkajs',
    players: '@nestjs/common ioredis kafkajs',
    produce: '@nestjs/common ioredis kafkajs',
    scores: '@nestjs/common ioredis kafkajs',
    skip: '@nestjs/common ioredis kafkajs',
    status: '@nestjs/common ioredis kafkajs',
    topics: '@nestjs/common ioredis kafkajs',
    dev: '@nestjs/common @nestjs/core @nestjs/swagger class-validator fastify ioredis kafkajs prom-client',
    start:
      '@nestjs/common @nestjs/core @nestjs/swagger class-validator fastify ioredis kafkajs prom-client',
  });
});
