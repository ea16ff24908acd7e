import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { validatorsText } from './compile-validators.js';

it('writes the validators that are committed; "npm run validators" writes them again', () => {
  const file = new URL('../validators.generated.ts', import.meta.url);
  expect(readFileSync(file, 'utf8') === validatorsText()).toBe(true);
});
