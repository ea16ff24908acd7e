// @ts-check
// `node ../../scripts/build-package.mjs ENTRY...`, run by npm in packages/NAME before it packs:
// builds files of libs to dist/, the first ENTRY as `index`, others with the names of their files
// or, for an index.ts, of their folders. What the others import of the first (`#NAME`) is that of
// `index`, and so are the errors that it exports, so that classes are the same. The code is
// CommonJS, which any Node and any test runner can load; NAME.mjs exports the same names to
// ECMAScript modules. Of a package without dependencies, it has the code itself, so that a browser
// can load it.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const { build } = await import('esbuild');
const { generateDtsBundle } = await import('dts-bundle-generator');
const { bundleOptions, COMPILED, ROOT, thirdPartyLicences } = await import('./bundling.mjs');

const entries = process.argv.slice(2).map((file, at) => {
  const { dir, name } = path.parse(file);
  const own = name === 'index' ? path.basename(dir) : name;
  const compiled = path.join(COMPILED, file).replace(/\.ts$/, '.js');
  return { compiled, name: at === 0 ? 'index' : own };
});
/** CommonJS has no `import.meta.url`. */
const WITH_FILE_URL = {
  define: { 'import.meta.url': 'fileUrl' },
  banner: { js: "const fileUrl = require('node:url').pathToFileURL(__filename).href;" },
};
/** The suffix by which a module is loaded as it is. */
const OWN = '?own';
/** The import of the first entry by the others. */
const INDEX = `#${path.basename(process.cwd())}`;
const output = path.resolve('dist');
/** @type {import('esbuild').Plugin} */
const importsOfIndex = {
  name: 'imports-of-index',
  setup: (bundler) => {
    bundler.onResolve({ filter: new RegExp(`^${INDEX}$`) }, () => {
      return { path: './index.cjs', external: true, sideEffects: false };
    });
    bundler.onLoad({ filter: /\/dist\/libs\/.*errors(\/index)?\.js$/ }, async (module) => {
      if (module.suffix === OWN) return undefined;
      const index = await importCompiled(entries[0]?.compiled ?? '');
      const names = Object.keys(await importCompiled(module.path)).filter((name) => name in index);
      const contents = `export { ${names.join(', ')} } from '${INDEX}';
        export * from '${module.path}${OWN}';`;
      return { contents };
    });
  },
};
rmSync(output, { recursive: true, force: true });
/** @type {{ dependencies?: object, peerDependencies?: object }} */
const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const external = Object.keys({ ...dependencies, ...peerDependencies });

const typesOfEntries = generateDtsBundle(
  entries.map(({ compiled }) => ({
    filePath: compiled.replace(/\.js$/, '.d.ts'),
    output: { noBanner: true, exportReferencedTypes: false },
  })),
  { preferredConfigPath: path.join(ROOT, 'packages/tsconfig.json') },
);
/** @type {import('esbuild').Metafile['outputs']} */
const outputs = {};
for (const [at, { compiled, name }] of entries.entries()) {
  await bundleCode(compiled, name);
  const types = typesOfEntries[at] ?? '';
  write(`${name}.d.cts`, types);
  write(`${name}.d.mts`, types);
}
const licences = thirdPartyLicences({ outputs });
if (licences !== '') write('THIRD-PARTY.txt', licences);
copyFileSync(path.join(ROOT, 'LICENSE'), 'LICENSE');

/** @param {string} compiled @param {string} name */
async function bundleCode(compiled, name) {
  const common = bundleOptions(({ READ_SCRIPTS }) => READ_SCRIPTS);
  /** @type {import('esbuild').BuildOptions & { metafile: true }} */
  const options = {
    ...common,
    entryPoints: [compiled],
    external,
    plugins: name === 'index' ? common.plugins : [importsOfIndex, ...common.plugins],
  };
  const outfile = path.join(output, `${name}-code.cjs`);
  const { metafile } = await build({ ...options, ...WITH_FILE_URL, outfile, format: 'cjs' });
  Object.assign(outputs, metafile.outputs);
  /** @type {object} */
  const code = createRequire(import.meta.url)(outfile);
  const names = Object.keys(code).sort();
  const list = `{ ${names.join(', ')} }`;
  // To find the names of an import, Node parses NAME.cjs slowly: this one is short, and names them
  // where they are found.
  write(
    `${name}.cjs`,
    `const code = require('./${name}-code.cjs');\nmodule.exports = code;\n0 && ` +
      `(module.exports = ${list});\n`,
  );
  if (external.length > 0) write(`${name}.mjs`, `export ${list} from './${name}.cjs';\n`);
  else
    await build({
      ...options,
      outfile: path.join(output, `${name}.mjs`),
      format: 'esm',
      platform: 'browser',
    });
}

/** @param {string} file */
async function importCompiled(file) {
  /** @type {object} */
  const module = await import(pathToFileURL(file).href);
  return module;
}

/** @param {string} file @param {string} text */
function write(file, text) {
  writeFileSync(path.join(output, file), text);
}
