// @ts-check
// `npm run validators`: compiles the validators of the contracts from the decorators of their classes.
import { writeFileSync } from 'node:fs';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
/** @type {typeof import('../libs/contracts/classes/compile-validators.js')} */
const { validatorsText } = await import(
  new URL('../dist/libs/contracts/classes/compile-validators.js', import.meta.url).href
);
writeFileSync(
  new URL('../libs/contracts/validators.generated.ts', import.meta.url),
  validatorsText(),
);
