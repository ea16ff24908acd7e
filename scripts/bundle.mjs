// @ts-check
// Bundles the compiled command line with its dependencies: finding and loading 2,300 modules would take longer than most commands.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const COMPILED = path.resolve('dist');
const BUNDLE = path.join(COMPILED, 'cli');

const EXTERNAL = [
  'reflect-metadata', // an import that runs before the modules of a chunk, which need it
  // Packages that Nest loads if they are installed.
  ...['@nestjs/platform-express', '@nestjs/websockets', '@fastify/multipart', '@fastify/static'],
  ...['@fastify/view', '@grpc/*', '@nats-io/transport-node', 'amqp-connection-manager', 'mqtt'],
];

/**
 * Keeps the URL of each of our modules, by which the module finds its files.
 * @type {import('esbuild').Plugin}
 */
const KEEP_URLS = {
  name: 'keep-urls',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/dist\/(src|libs)\/.*\.js$/ }, async ({ path: file }) => {
      const url = `new URL(${JSON.stringify(path.relative(BUNDLE, file))}, import.meta.url).href`;
      const text = await readFile(file, 'utf8');
      return { contents: text.replaceAll('import.meta.url', url) };
    });
  },
};

await rm(BUNDLE, { recursive: true, force: true });
await build({
  entryPoints: [path.join(COMPILED, 'src/cli/main.js')],
  outdir: BUNDLE,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  external: EXTERNAL,
  plugins: [KEEP_URLS],
});
