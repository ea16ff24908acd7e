// @ts-check
// `node scripts/release-notes.mjs TAG`: prints the section of CHANGELOG.md for the version of
// package.json. Fails unless TAG is the tag of that version, and the section has a text.
import { readFileSync } from 'node:fs';

const [tag = ''] = process.argv.slice(2);
const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
if (tag !== `v${version}`) refuse(`${tag || 'no tag'} is not the tag v${version} of package.json`);

const sections = changelog.split(/^## /m);
const section = sections.find((text) => text.startsWith(`${version} - `)) ?? '';
const notes = section.slice(section.indexOf('\n')).trim();
if (notes === '') refuse(`CHANGELOG.md has no text under a heading "## ${version} - DATE"`);
process.stdout.write(`${notes}\n`);

/** @param {string} problem @returns {never} */
function refuse(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}
