// @ts-check
// `npm run api-docs`: writes docs/reference/openapi.json (HTTP) and asyncapi.json (topics) from the compiled code.
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const { openApi } = await import('./api-docs/openapi.mjs');
const { asyncApi } = await import('./api-docs/asyncapi.mjs');

await write('docs/reference/openapi.json', await openApi());
await write('docs/reference/asyncapi.json', JSON.stringify(asyncApi()));

/** @param {string} file @param {string} json */
async function write(file, json) {
  await writeFile(file, await format(json, { ...(await resolveConfig(file)), parser: 'json' }));
}
