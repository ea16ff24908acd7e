// @ts-check
// What the bundles of the command line and of the packages have in common. They are made from
// dist/, not from the sources, because Nest needs the metadata of decorators, which tsc writes and
// esbuild does not.
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const COMPILED = path.join(ROOT, 'dist');

/**
 * Replaces the calls of createRequire by which our modules load a library on first use: esbuild
 * does not follow them.
 * @param {(library: string) => string} load the expression that loads a library
 * @returns {import('esbuild').Plugin}
 */
function lazyRequires(load) {
  return {
    name: 'lazy-requires',
    setup: (bundler) => {
      bundler.onLoad({ filter: /\/dist\/(src|libs)\/.*\.js$/ }, async ({ path: file }) => {
        const text = await readFile(file, 'utf8');
        const call = /createRequire\(import\.meta\.url\)\('([^']+)'\)/g;
        return { contents: text.replace(call, (_, library) => load(String(library))) };
      });
    },
  };
}

/**
 * Puts Lua scripts, with the names of their keys and arguments, into a bundle.
 * @param {(list: { READ_SCRIPTS: readonly string[], SCRIPTS: readonly string[] }) => readonly
 * string[]} choose
 * @returns {import('esbuild').Plugin}
 */
function inlineLua(choose) {
  return {
    name: 'inline-lua',
    setup: (bundler) => {
      bundler.onLoad(
        { filter: /\/dist\/libs\/board-store\/lua\/script-text\.js$/ },
        async (module) => {
          /** @type {{ readScript: (script: string) => object }} */
          const { readScript } = await import(pathToFileURL(module.path).href);
          /** @type {Parameters<typeof choose>[0]} */
          const list = await import(new URL('scripts.js', pathToFileURL(module.path)).href);
          const scripts = choose(list).map((script) => [script, readScript(script)]);
          const contents = `const SCRIPTS = ${JSON.stringify(Object.fromEntries(scripts))};
          export const readScript = (script) => SCRIPTS[script];`;
          return { contents };
        },
      );
    },
  };
}

/**
 * Options for esbuild.
 * @param {Parameters<typeof inlineLua>[0]} scripts the Lua scripts that the bundle needs
 * @param {Parameters<typeof lazyRequires>[0]} [load]
 * @returns {import('esbuild').BuildOptions & { metafile: true, plugins: import('esbuild').Plugin[]
 * }}
 */
export function bundleOptions(scripts, load = (library) => `require('${library}')`) {
  return {
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
    legalComments: 'none', // thirdPartyLicences has the whole texts
    metafile: true,
    plugins: [inlineLua(scripts), lazyRequires(load)],
  };
}

/**
 * The licences of the packages in a bundle.
 * @param {{ outputs: Record<string, Pick<import('esbuild').Metafile['outputs'][string], 'inputs'>>
 * }} metafile
 */
export function thirdPartyLicences({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => {
    return Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0);
  });
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
  );
  return [...folders]
    .sort()
    .map(licenceOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param {string} folder of a package */
function licenceOf(folder) {
  /** @type {{ name: string, version: string, license: string }} */
  const { name, version, license } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n');
}
