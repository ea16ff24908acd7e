// @ts-check
// Builds the page for browsers (src/page) as one HTML file with its script and styles inside.
import path from 'node:path';
import { build } from 'vite';
import { ROOT } from './bundling.mjs';

/** @typedef {import('esbuild').Metafile['outputs'][string]['inputs']} Inputs */

/**
 * Writes index.html into the folder.
 * @param {string} folder
 * @returns {Promise<{ inputs: Inputs }>} the files that are in it, in the form of esbuild
 */
export async function buildPage(folder) {
  /** @type {Inputs} */
  const inputs = {};
  await build({
    root: path.join(ROOT, 'src/page'),
    configFile: false,
    logLevel: 'warn',
    resolve: { conditions: ['ranklog-source', 'module', 'browser', 'production'] },
    build: { outDir: folder, emptyOutDir: true, target: 'esnext', modulePreload: false },
    plugins: [inlined(inputs)],
  });
  return { inputs };
}

/**
 * Puts the script and the styles into the HTML file, in place of the elements that load them. Adds
 * their files to `inputs`.
 * @param {Inputs} inputs
 * @returns {import('vite').Plugin}
 */
function inlined(inputs) {
  return {
    name: 'inlined',
    enforce: 'post',
    generateBundle: (_, bundle) => {
      const { 'index.html': page, ...files } = bundle;
      if (page?.type !== 'asset') throw new Error('vite made no index.html');
      for (const [name, file] of Object.entries(files)) {
        const loads = new RegExp(`<(script|link)[^>]*"[./]*${name}"[^>]*>(</script>)?`);
        page.source = String(page.source).replace(loads, () => elementOf(file));
        Reflect.deleteProperty(bundle, name);
        if (file.type !== 'chunk') continue;
        for (const [id, { renderedLength }] of Object.entries(file.modules))
          inputs[path.relative('', id)] = { bytesInOutput: renderedLength };
      }
    },
  };
}

/** @param {import('vite').Rollup.OutputAsset | import('vite').Rollup.OutputChunk} file */
function elementOf(file) {
  if (file.type === 'asset') return `<style>${String(file.source)}</style>`;
  return `<script type="module">${file.code.replaceAll('</script', '<\\/script')}</script>`;
}
