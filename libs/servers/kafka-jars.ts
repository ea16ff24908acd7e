import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { ensureInstalled } from './packages.js';
import { runWithProgress } from './progress.js';
import { ServersError } from './servers-error.js';
import type { ServersFolder } from './servers-folder.js';

interface Versions {
  /** The patch version of Kafka. */
  readonly kafka: string;
  /** The version that Kafka is built with. */
  readonly slf4j: string;
}

/** The releases that can be asked for. */
const RELEASES: ReadonlyMap<string, Versions> = new Map([
  ['4.1', { kafka: '4.1.2', slf4j: '1.7.36' }],
  ['3.9', { kafka: '3.9.2', slf4j: '1.7.36' }],
]);
export const KAFKA_RELEASES = [...RELEASES.keys()];
export const DEFAULT_RELEASE = '4.1';

/** The full version of a release, e.g. 4.1.2 of 4.1. */
export function kafkaVersion(release: string): string {
  return versionsOf(release).kafka;
}

function versionsOf(release: string): Versions {
  const versions = RELEASES.get(release);
  if (versions === undefined)
    throw new ServersError(`--kafka ${release} is not known; use ${KAFKA_RELEASES.join(' or ')}`);
  return versions;
}

/** Whether the jars of a release are there. */
export function hasJars(folder: ServersFolder, release = DEFAULT_RELEASE): boolean {
  return existsSync(path.join(jarsFolder(folder, release), 'complete'));
}

/** The class path of a release. Fetches its jars with Maven if they are missing. */
export async function kafkaClasspath(folder: ServersFolder, release: string): Promise<string> {
  await withLock(folder.file('jars.lock'), () => ensureJars(folder, release));
  return path.join(jarsFolder(folder, release), '*');
}

function jarsFolder(folder: ServersFolder, release: string): string {
  return folder.file(`kafka-${kafkaVersion(release)}`);
}

async function ensureJars(folder: ServersFolder, release: string): Promise<void> {
  if (hasJars(folder, release)) return ensureInstalled(folder, ['java']);
  await ensureInstalled(folder, ['java', 'mvn']);
  const versions = versionsOf(release);
  const jars = jarsFolder(folder, release);
  rmSync(jars, { recursive: true, force: true });
  mkdirSync(jars, { recursive: true });
  const pom = path.join(jars, 'pom.xml');
  writeFileSync(pom, pomOf(versions));
  await runWithProgress(folder, {
    label: `fetching Kafka ${versions.kafka} (55 MB, once)`,
    command: 'mvn',
    args: ['-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`],
    read: downloadCounter(),
  });
  writeFileSync(path.join(jars, 'complete'), '');
}

/** What a Kafka server and its tools need to run. */
function pomOf({ kafka, slf4j }: Versions): string {
  // Kafka 3.9 brings this second binding, which would drop the log lines.
  const exclusion =
    '<exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId></exclusion>';
  const kafkaParts = ['kafka_2.13', 'kafka-tools'].map(
    (name) => `
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>${name}</artifactId>
      <version>${kafka}</version>
      <exclusions>${exclusion}</exclusions>
    </dependency>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ranklog</groupId>
  <artifactId>kafka-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>${kafkaParts.join('')}
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>${slf4j}</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
      </plugin>
    </plugins>
  </build>
</project>
`;
}

/** Adds up the downloads that Maven reports; jars in its cache are not downloaded. */
function downloadCounter(): (line: string) => string {
  const BYTES = new Map([
    ['B', 1],
    ['kB', 1e3],
    ['MB', 1e6],
  ]);
  let bytes = 0;
  return (line) => {
    const [, size, unit = ''] = /Downloaded from .* \(([\d.]+) (\w+) at /.exec(line) ?? [];
    bytes += Number(size ?? 0) * (BYTES.get(unit) ?? 0);
    return `${(bytes / 1e6).toFixed(1)} MB`;
  };
}
