// @ts-check
// Makes dist/package, which is published as `ranklog`: the bundle without source maps, a manifest
// made from package.json, a bill of materials, and documents, which `--program` leaves out. `npm
// run package` packs it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAGED = path.join(ROOT, 'dist', 'package');
const PROGRAM = ['dist/cli', 'schemas', 'LICENSE'];
const DOCUMENTS = ['README.md', 'docs', ':!docs/images', 'deploy', 'monitoring', 'examples'];
/** Files that `ranklog dev` needs, which the image of the service does not have. */
const DEVELOPMENT = ['docker-compose.yml'];
/**
 * The fields of package.json that the published manifest has, too. A release writes the last three.
 */
const PUBLISHED = [
  ...['name', 'version', 'description', 'keywords', 'license', 'publishConfig'],
  ...['type', 'engines', 'bin', 'exports', 'repository', 'homepage', 'bugs'],
];

await ensureDependencies();
await ensureBuild();
/** @type {Record<string, unknown> & { name: string, imports: Record<string, string> }} */
const clone = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
rmSync(STAGED, { recursive: true, force: true });
const documents = process.argv.includes('--program')
  ? []
  : trackedFiles([...DOCUMENTS, ...DEVELOPMENT]);
for (const part of [...PROGRAM, ...documents]) stage(part);
writeJson(path.join(STAGED, 'package.json'), publishedManifest());
writeFileSync(path.join(STAGED, 'sbom.cdx.json'), billOfMaterials());

/** @param {string} part a file or folder of the project */
function stage(part) {
  cpSync(path.join(ROOT, part), path.join(STAGED, part), {
    recursive: true,
    filter: (file) => !file.endsWith('.map'),
  });
}

/**
 * The files that git has. The folders may hold others, such as the passwords that people write into
 * deploy/secrets.
 * @param {string[]} places
 */
function trackedFiles(places) {
  return run('git', ['-C', ROOT, 'ls-files', '-z', '--', ...places])
    .split('\0')
    .filter((file) => file !== '');
}

/** The manifest of a package that installs no other: the bundle has all that it needs. */
function publishedManifest() {
  const fields = Object.entries(clone).filter(([field]) => PUBLISHED.includes(field));
  const imports = { '#package': clone.imports['#package'] }; // by it, the program finds its folder
  return { ...Object.fromEntries(fields), imports };
}

/**
 * What `npm sbom --omit=dev` should print: it leaves out each package that a tool needs as well,
 * such as kafkajs (https://github.com/npm/cli/issues/7909). So npm gets a clone without tools here.
 */
function billOfMaterials() {
  const temporary = mkdtempSync(path.join(tmpdir(), 'ranklog-sbom-'));
  try {
    const folder = path.join(temporary, clone.name); // npm names the program by its folder
    mkdirSync(folder);
    const { dependencies, overrides } = clone;
    const manifest = { ...publishedManifest(), dependencies, overrides };
    writeJson(path.join(folder, 'package.json'), manifest);
    writeJson(path.join(folder, 'package-lock.json'), lockfileWithoutTools());
    const flags = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
    return run('npm', ['sbom', ...flags, '--prefix', folder]);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function lockfileWithoutTools() {
  /** @type {{ packages: Record<string, { dev?: boolean, devDependencies?: object }> }} */
  const lockfile = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const needed = Object.entries(lockfile.packages).filter(([, { dev }]) => dev !== true);
  const packages = Object.fromEntries(needed);
  delete packages['']?.devDependencies;
  return { ...lockfile, packages };
}

/** @param {string} command @param {string[]} args @returns {string} what it prints */
function run(command, args) {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
}

/** @param {string} file @param {object} content */
function writeJson(file, content) {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
