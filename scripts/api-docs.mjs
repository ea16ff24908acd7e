// @ts-check
// `npm run api-docs`: writes docs/reference/openapi.json (HTTP) and asyncapi.json (topics), and
// schemas/ of the records, from the compiled code.
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const { openApi } = await import('./api-docs/openapi.mjs');
const { asyncApi } = await import('./api-docs/asyncapi.mjs');
const { recordSchemas } = await import('./api-docs/record-schemas.mjs');

await write('docs/reference/openapi.json', await openApi());
await write('docs/reference/asyncapi.json', JSON.stringify(asyncApi()));
for (const [file, schema] of Object.entries(recordSchemas()))
  await write(`schemas/${file}`, JSON.stringify(schema));

/** @param {string} file @param {string} json */
async function write(file, json) {
  await writeFile(file, await format(json, { ...(await resolveConfig(file)), parser: 'json' }));
}
