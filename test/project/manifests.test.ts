import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import semver from 'semver';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const root = read('package.json');
const tested = { ...root.dependencies, ...root.devDependencies };
const manifests = readdirSync('packages')
  .map((name) => `packages/${name}/package.json`)
  .filter((file) => existsSync(file));
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, { engines?: { node?: string } }>;
};

describe('package.json', () => {
  it('allows only versions of Node that all packages of the lockfile allow', () => {
    const refused = Object.entries(packages).filter(
      ([, { engines }]) => !semver.subset(root.engines.node, engines?.node ?? '*'),
    );
    expect(refused).toEqual([]);
  });

  it.each(manifests)('%s has the versions that are tested', (file) => {
    const { version, engines, dependencies, peerDependencies } = read(file);
    expect({ version, engines }).toEqual({ version: root.version, engines: root.engines });
    expect(tested).toMatchObject(dependencies ?? {});
    for (const [name, range] of Object.entries(peerDependencies ?? {}))
      expect(semver.satisfies(tested[name] ?? '', range)).toBe(true);
  });
});
