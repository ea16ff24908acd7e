// @ts-check
// `node scripts/publish.mjs TARBALL...`: publishes packed packages to npm, as their `publishConfig`
// says. Skips a version that npm has already, so that a release that failed midway can run again.
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';

const tarballs = process.argv.slice(2);
if (tarballs.length === 0) {
  process.stderr.write('Usage: node scripts/publish.mjs TARBALL...\n');
  process.exit(2);
}
for (const tarball of tarballs) {
  const file = path.resolve(tarball);
  const text = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' });
  /** @type {{ name: string, version: string }} */
  const { name, version } = JSON.parse(text);
  const release = `${name}@${version}`;
  if (isPublished(release)) process.stdout.write(`${release} is published already\n`);
  else execFileSync('npm', ['publish', file], { stdio: 'inherit' });
}

/**
 * False as well if npm does not answer: publishing then fails, and says why.
 * @param {string} release NAME@VERSION
 */
function isPublished(release) {
  const { stdout } = spawnSync('npm', ['view', release, 'version'], { encoding: 'utf8' });
  return stdout.trim() !== '';
}
