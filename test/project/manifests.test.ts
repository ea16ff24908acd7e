import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { transform } from 'esbuild';
import semver from 'semver';
import { runCommand } from '../support/project.js';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly keywords: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly publishConfig: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const root = read('package.json');
const tested: Readonly<Record<string, string>> = {
  ...root.dependencies,
  ...root.devDependencies,
  ranklog: root.version, // a peer of @ranklog/testing
};
const manifests = readdirSync('packages')
  .map((name) => `packages/${name}/package.json`)
  .filter((file) => existsSync(file));
const { packages, version: lockedVersion } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
) as {
  version: string;
  packages: Record<string, { version?: string; engines?: { node?: string } }>;
};

const IMPORT = String.raw`\bfrom |\bimport |\bimport\(|createRequire\(import\.meta\.url\)\(`;
const PACKAGE = String.raw`(?:@[\w-]+\/)?[a-z][\w.-]*`;
const LOADS = new RegExp(`(?:${IMPORT})"(${PACKAGE})["/]`, 'g');

/** The packages that src and libs load, at once or on first use. Imports of types load none. */
async function loadedPackages(): Promise<string[]> {
  const files = ['src', 'libs'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  const loaded = new Set<string>();
  for (const file of files.filter((name) => /(?<!\.spec|\.d)\.tsx?$/.test(name))) {
    const { code } = await transform(readFileSync(file, 'utf8'), {
      loader: path.extname(file) === '.tsx' ? 'tsx' : 'ts',
      tsconfigRaw: {
        compilerOptions: { verbatimModuleSyntax: true, experimentalDecorators: true },
      },
    });
    for (const [, name = ''] of code.matchAll(LOADS)) loaded.add(name);
  }
  return [...loaded].sort();
}

describe('package.json', () => {
  it('has the packages that src and libs load among the dependencies, and no others', async () => {
    expect(Object.keys(root.dependencies ?? {}).sort()).toEqual(await loadedPackages());
  });

  it('has benchmarks that print their options', async () => {
    const names = Object.keys(root.scripts).filter((name) => /^bench\b/.test(name));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) {
      const [, ...args] = root.scripts[name]?.split(' ') ?? [];
      const { exitCode, stdout } = await runCommand(process.execPath, [...args, '--help']);
      expect([name, exitCode, stdout]).toEqual([
        name,
        0,
        expect.stringContaining(`Usage: npm run ${name} --`),
      ]);
    }
  });

  it('allows only versions of Node that all packages of the lockfile allow', () => {
    const refused = Object.entries(packages).filter(
      ([, { engines }]) => !semver.subset(root.engines.node, engines?.node ?? '*'),
    );
    expect(refused).toEqual([]);
  });

  it('has the version of the lockfile', () => {
    expect([lockedVersion, packages['']?.version]).toEqual([root.version, root.version]);
  });

  it.each(['package.json', ...manifests])('%s is published for all, with provenance', (file) => {
    const { publishConfig, keywords } = read(file);
    expect(publishConfig).toEqual({ access: 'public', provenance: true });
    expect(keywords).toContain('leaderboard');
  });

  it.each(manifests)('%s has the versions that are tested', (file) => {
    const { version, engines, dependencies, peerDependencies } = read(file);
    expect({ version, engines }).toEqual({ version: root.version, engines: root.engines });
    expect(tested).toMatchObject(dependencies ?? {});
    for (const [name, range] of Object.entries(peerDependencies ?? {}))
      expect(semver.satisfies(tested[name] ?? '', range)).toBe(true);
  });
});
