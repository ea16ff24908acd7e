// @ts-check
// Writes the address of the repository into the manifests of all packages. The release workflow
// runs it: npm refuses a package with provenance whose manifest names another repository than its
// build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY) {
  process.stderr.write('Set GITHUB_SERVER_URL and GITHUB_REPOSITORY, as GitHub Actions does.\n');
  process.exit(2);
}
const address = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
const url = `git+${address}.git`;
const bugs = { url: `${address}/issues` };

edit('package.json', { repository: { type: 'git', url }, homepage: `${address}#readme`, bugs });
for (const entry of readdirSync(path.join(ROOT, 'packages'), { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const directory = `packages/${entry.name}`;
  const homepage = `${address}/tree/HEAD/${directory}#readme`;
  edit(`${directory}/package.json`, {
    repository: { type: 'git', url, directory },
    homepage,
    bugs,
  });
}

/** @param {string} name a manifest of the project @param {object} fields */
function edit(name, fields) {
  const file = path.join(ROOT, name);
  /** @type {object} */
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...fields }, null, 2)}\n`);
}
