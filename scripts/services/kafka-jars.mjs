// @ts-check
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../lock.mjs';
import { ensureInstalled } from './packages.mjs';
import { runWithProgress } from './progress.mjs';
import { ServiceError } from './say.mjs';
import { HOME } from './state.mjs';

const POM = fileURLToPath(new URL('kafka.pom.xml', import.meta.url));

/** Releases that can be asked for: the patch version of each, and the slf4j version that it is built with. */
const RELEASES = new Map([
  ['4.1', { kafka: '4.1.2', slf4j: '1.7.36' }],
  ['3.9', { kafka: '3.9.2', slf4j: '1.7.36' }],
]);
export const KAFKA_RELEASES = [...RELEASES.keys()];
export const DEFAULT_RELEASE = '4.1';

/**
 * The full version of a release, e.g. 4.1.2 of 4.1.
 * @param {string} release
 */
export function kafkaVersion(release) {
  return versionsOf(release).kafka;
}

/** @param {string} release */
function versionsOf(release) {
  const versions = RELEASES.get(release);
  if (versions === undefined)
    throw new ServiceError(`--kafka ${release} is not known; use ${KAFKA_RELEASES.join(' or ')}`);
  return versions;
}

/**
 * The class path of a release; fetches its jars with Maven when they are not there yet.
 * @param {string} release
 * @returns {Promise<string>}
 */
export async function kafkaClasspath(release) {
  const versions = versionsOf(release);
  const folder = path.join(HOME, `kafka-${versions.kafka}`);
  await withLock(path.join(HOME, 'jars.lock'), () => ensureJars(folder, versions));
  return path.join(folder, '*');
}

/** @param {string} folder @param {{ kafka: string, slf4j: string }} versions */
async function ensureJars(folder, versions) {
  const complete = path.join(folder, 'complete');
  if (existsSync(complete)) return ensureInstalled(['java']);
  await ensureInstalled(['java', 'mvn']);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runWithProgress({
    label: `fetching Kafka ${versions.kafka} (55 MB, once)`,
    command: 'mvn',
    args: [
      ...['-B', '-f', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`],
      ...[`-Dkafka.version=${versions.kafka}`, `-Dslf4j.version=${versions.slf4j}`],
    ],
    read: downloadCounter(),
  });
  writeFileSync(complete, '');
}

/** Adds up the downloads that Maven reports; jars in its cache are not downloaded. */
function downloadCounter() {
  const BYTES = new Map([
    ['B', 1],
    ['kB', 1e3],
    ['MB', 1e6],
  ]);
  let bytes = 0;
  return (/** @type {string} */ line) => {
    const [, size, unit = ''] = /Downloaded from .* \(([\d.]+) (\w+) at /.exec(line) ?? [];
    bytes += Number(size ?? 0) * (BYTES.get(unit) ?? 0);
    return `${(bytes / 1e6).toFixed(1)} MB`;
  };
}
