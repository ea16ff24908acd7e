import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PROJECT } from '../support/project-copy.js';

interface Lockfile {
  readonly packages: Record<string, { optionalDependencies?: Record<string, string> }>;
}

describe('package-lock.json', () => {
  // npm install on one platform can leave out the packages of the others; npm ci then refuses the file there.
  it('names the optional packages of all platforms', () => {
    const text = readFileSync(path.join(PROJECT, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as Lockfile;
    const names = Object.keys(packages);
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !names.some((place) => place.endsWith(`node_modules/${name}`)));
    expect(missing).toEqual([]);
  });
});
