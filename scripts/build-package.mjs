// @ts-check
// `node ../../scripts/build-package.mjs ENTRY`, run by npm in packages/NAME before it packs: builds ENTRY, a file of libs, to dist/.
// The code is CommonJS, which any Node and any test runner can load; index.mjs exports the same names to ECMAScript modules. Of a
// package without dependencies, index.mjs has the code itself, so that a browser can load it.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const { build } = await import('esbuild');
const { generateDtsBundle } = await import('dts-bundle-generator');
const { bundleOptions, COMPILED, ROOT, thirdPartyLicences } = await import('./bundling.mjs');

const [entry = ''] = process.argv.slice(2);
const output = path.resolve('dist');
rmSync(output, { recursive: true, force: true });
/** @type {{ dependencies?: object, peerDependencies?: object }} */
const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const external = Object.keys({ ...dependencies, ...peerDependencies });
/** @type {import('esbuild').BuildOptions & { metafile: true }} */
const options = {
  ...bundleOptions(({ READ_SCRIPTS }) => READ_SCRIPTS),
  entryPoints: [path.join(COMPILED, entry.replace(/\.ts$/, '.js'))],
  external,
};
const outfile = path.join(output, 'code.cjs');
const { metafile } = await build({ ...options, outfile, format: 'cjs' });
/** @type {object} */
const code = createRequire(import.meta.url)(outfile);
const names = Object.keys(code).sort();
const list = `{ ${names.join(', ')} }`;
// To find the names of an import, Node parses index.cjs slowly: this one is short, and names them where they are found.
write(
  'index.cjs',
  `const code = require('./code.cjs');\nmodule.exports = code;\n0 && (module.exports = ${list});\n`,
);
if (external.length > 0) write('index.mjs', `export ${list} from './index.cjs';\n`);
else
  await build({
    ...options,
    outfile: path.join(output, 'index.mjs'),
    format: 'esm',
    platform: 'browser',
  });

const [types = ''] = generateDtsBundle(
  [
    {
      filePath: path.join(COMPILED, entry.replace(/\.ts$/, '.d.ts')),
      output: { noBanner: true, exportReferencedTypes: false },
    },
  ],
  { preferredConfigPath: path.join(ROOT, 'packages/tsconfig.json') },
);
// The contracts are classes for the sake of their decorators, and types for everyone else.
const honest = types.replace(
  /^export declare class (\w+)/gm,
  (text, /** @type {string} */ name) => {
    return names.includes(name) ? text : `export interface ${name}`;
  },
);
write('index.d.cts', honest);
write('index.d.mts', honest);
const licences = thirdPartyLicences(metafile);
if (licences !== '') write('THIRD-PARTY.txt', licences);
copyFileSync(path.join(ROOT, 'LICENSE'), 'LICENSE');

/** @param {string} file @param {string} text */
function write(file, text) {
  writeFileSync(path.join(output, file), text);
}
