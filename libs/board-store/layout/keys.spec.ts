import { expect, it } from '@jest/globals';
import { readScript } from '../lua/script-text.js';
import { SCRIPTS } from '../lua/scripts.js';
import { KeySpace, slotOf } from './keys.js';

/** The keys of a step of a comparison are event ids or players: see compare-generations-16.lua. */
const EITHER = ['shadow_items', 'live_items'];

it('keys have the same names in scripts', () => {
  const known = Object.keys(new KeySpace('ranklog'));
  const isKnown = (name: string) => {
    const ofGeneration = name.replace(/^(shadow|live|previous)_/, '');
    const camelCase = ofGeneration.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return known.includes(camelCase);
  };
  const names = SCRIPTS.flatMap((script) => readScript(script).keys);
  const fixed = names.filter((name) => !name.endsWith('...') && !EITHER.includes(name));
  expect(fixed.length).toBeGreaterThan(100);
  expect(fixed.filter((name) => !isKnown(name))).toEqual([]);
});

it('the slot of a hash tag is that of CLUSTER KEYSLOT', () => {
  expect(slotOf('123456789')).toBe(12_739); // the example of the specification of Redis Cluster
  expect(slotOf('')).toBe(0);
  expect(new KeySpace('ranklog').slot(0)).toBe(slotOf('ranklog:0'));
});
