import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BOUNDED_PLANS } from './bounded-plans.js';
import { FAULTS } from './faults/all.js';
import { recordFrom } from './load.js';
import { planOf, planText, randomOf } from './plan.js';

const NAMES = FAULTS.map(({ name }) => name);
const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

describe('the plan of a run', () => {
  it('follows from its seed alone, and so do the records of its load', () => {
    expect(planOf(17, NAMES)).toEqual(planOf(17, NAMES));
    const records = () => {
      const random = randomOf(planOf(17, NAMES), 'load');
      return Array.from({ length: 100 }, (_, serial) => recordFrom(random, serial));
    };
    expect(records()).toEqual(records());
    expect(new Set(SEEDS.map((seed) => planText(planOf(seed, NAMES)))).size).toBe(SEEDS.length);
  });

  it('is random in every part: all faults come, on one shard and on two, in runs of different lengths', () => {
    const plans = SEEDS.map((seed) => planOf(seed, NAMES));
    const used = plans.flatMap(({ steps }) => steps.map(({ fault }) => fault));
    expect([...new Set(used)].sort()).toEqual([...NAMES].sort());
    expect(new Set(plans.map(({ shards }) => shards)).size).toBe(2);
    expect(new Set(plans.map(({ steps }) => steps.length)).size).toBeGreaterThan(3);
  });
});

describe('the bounded part of the suite', () => {
  it('has every fault at least once, and plans for one shard and for two', () => {
    const used = BOUNDED_PLANS.flatMap(({ steps }) => steps.map(({ fault }) => fault));
    expect([...new Set(used)].sort()).toEqual([...NAMES].sort());
    expect(new Set(BOUNDED_PLANS.map(({ shards }) => shards)).size).toBe(2);
  });
});

describe('the README of the suite', () => {
  it('has the table of all faults', () => {
    const text = readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| (.+?) +\|$/gm)];
    expect(rows.map(([, name, does]) => ({ name, does }))).toEqual(
      FAULTS.map(({ name, does }) => ({ name, does })),
    );
  });
});
