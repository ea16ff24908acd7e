// @ts-check
// Bundles the compiled command line with its dependencies: finding and loading 2,300 modules would
// take longer than most commands.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, COMPILED, ROOT, thirdPartyLicences } from './bundling.mjs';
import { buildPage } from './page.mjs';

const BUNDLE = path.join(COMPILED, 'cli');

/** Packages that Nest and debug load if they are installed. */
const EXTERNAL = [
  ...['@nestjs/platform-express', '@nestjs/websockets', '@fastify/multipart', '@fastify/static'],
  ...['@fastify/view', '@grpc/*', '@nats-io/transport-node', 'amqp-connection-manager', 'mqtt'],
  'supports-color',
];

/**
 * Bundles reflect-metadata as an ECMAScript module. A CommonJS module would run after the others of
 * its chunk, whose decorators need it.
 * @type {import('esbuild').Plugin}
 */
const reflectMetadata = {
  name: 'reflect-metadata',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/reflect-metadata\/Reflect\.js$/ }, async ({ path: file }) => {
      return { contents: `${await readFile(file, 'utf8')}\nexport {};` };
    });
  },
};

/**
 * What Nest uses of packages that it loads by itself.
 * @type {ReadonlyMap<string, string>}
 */
const LOADED_BY_NEST = new Map([
  ['class-validator', 'validate'],
  ['class-transformer', 'plainToInstance, classToPlain'],
]);

/**
 * Leaves out what nobody uses of packages whose modules do nothing when they are loaded. Of
 * class-validator, only the build with ECMAScript modules can be cut.
 * @type {import('esbuild').Plugin}
 */
const cutPackages = {
  name: 'cut-packages',
  setup: (bundler) => {
    const packages = { filter: /^(@nestjs\/swagger|class-validator|class-transformer)$/ };
    bundler.onResolve(packages, async ({ path: name, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === 'found') return undefined;
      if (kind === 'dynamic-import' && LOADED_BY_NEST.has(name))
        return { path: name, namespace: 'loaded-by-nest', pluginData: resolveDir };
      const file = name === 'class-validator' ? 'class-validator/esm5/index.js' : name;
      const options = { kind, importer, resolveDir, pluginData: 'found' };
      return { path: (await bundler.resolve(file, options)).path, sideEffects: false };
    });
    bundler.onLoad({ filter: /./, namespace: 'loaded-by-nest' }, ({ path: name, pluginData }) => ({
      contents: `export { ${LOADED_BY_NEST.get(name)} } from '${name}';`,
      resolveDir: String(pluginData),
    }));
  },
};

const LUA = 'libs/board-store/lua';
await cp(path.join(ROOT, LUA), path.join(COMPILED, LUA), {
  recursive: true,
  filter: (file) => !file.endsWith('.ts'),
});
await rm(BUNDLE, { recursive: true, force: true });
/**
 * The libraries that are loaded on first use, each a file of its own: most commands load none.
 * @type {Set<string>}
 */
const lazy = new Set();
const shared = bundleOptions(
  ({ SCRIPTS }) => SCRIPTS,
  (library) => {
    if (library.startsWith('#')) return `require('${library}')`; // JSON of the project
    lazy.add(library);
    return `createRequire(import.meta.url)('./lazy/${library}.cjs')`;
  },
);
// Less text is parsed faster at each start. Stack traces keep the names, and lines that are not too
// long to show.
const options = { ...shared, minifyWhitespace: true, minifySyntax: true, lineLimit: 200 };
const { metafile } = await build({
  ...options,
  plugins: [...options.plugins, reflectMetadata, cutPackages],
  entryPoints: [path.join(COMPILED, 'src/cli/main.js')],
  outdir: BUNDLE,
  splitting: true,
  format: 'esm',
  banner: {
    js:
      "import { createRequire as createRequireOfBundle } from 'node:module'; const require = " +
      'createRequireOfBundle(import.meta.url);',
  },
  external: EXTERNAL,
});
const { metafile: lazyMetafile } = await build({
  ...options,
  entryPoints: Object.fromEntries([...lazy].map((library) => [library, library])),
  outdir: path.join(BUNDLE, 'lazy'),
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
});
const page = await buildPage(path.join(BUNDLE, 'page'));
const outputs = { ...metafile.outputs, ...lazyMetafile.outputs, page };
await writeFile(path.join(BUNDLE, 'THIRD-PARTY.txt'), thirdPartyLicences({ outputs }));
