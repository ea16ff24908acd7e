// @ts-check
// Kafka Streams with exactly_once_v2, which ranks the players in its memory.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMissing } from '#servers';
import { fillLog } from '../log.mjs';
import { BenchProcess } from '../process.mjs';
import { figures, mark } from '../meter.mjs';

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */
/** @typedef {import('../log.mjs').Size} Size */

const FOLDER = fileURLToPath(new URL('../peers/kafka-streams', import.meta.url));
const CLASSES = path.join(FOLDER, 'target/app.jar');
const JVM = ['-Xmx1g', '-XX:+UseParallelGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];

/**
 * Builds the application if its sources are newer. @returns {string | undefined} why it can't run
 */
export function buildStreams() {
  const missing = /** @type {const} */ (['java', 'mvn']).filter(isMissing);
  if (missing.length > 0) return `${missing.join(' and ')} missing (it needs Java 17 and Maven 3)`;
  const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('target'))
    .map((file) => modified(path.join(FOLDER, file)));
  if (modified(CLASSES) > Math.max(...sources)) return undefined;
  process.stderr.write('building bench/peers/kafka-streams\n');
  const { status } = spawnSync('mvn', ['-q', '-B', 'package'], {
    ...{ cwd: FOLDER, stdio: ['ignore', 2, 2] },
  });
  return status === 0 ? undefined : 'mvn package failed; its messages are above';
}

/** @param {string} file */
function modified(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Returns when it handles its first event. @param {Sandbox} sandbox */
export async function startStreams({ name, topics, folder }) {
  const classpath = `${CLASSES}:${path.join(FOLDER, 'target/lib/*')}`;
  const brokers = process.env['KAFKA_BROKERS'] ?? '';
  const application = [name, brokers, topics.scoreEvents, topics.rankChanges, folder];
  const args = [...JVM, '-cp', classpath, 'peer.App', ...application];
  const service = new BenchProcess(args, process.env, 'java');
  await service.line(/^first/);
  return service;
}

/**
 * The topic between its two parts: what is committed there has its result. @param {Sandbox} sandbox
 */
export function rankedTopic({ name }) {
  return `${name}-by-board-repartition`;
}

/**
 * Measures a process that has just started, from its first event to its last commit; then the same
 * process, warm by then, which gets as many events at one moment. The control records of its
 * transactions count as events: less than one in a thousand.
 * @param {Sandbox} sandbox @param {Size} size
 */
export async function runStreams(sandbox, { events, players }) {
  const service = await startStreams(sandbox);
  const begin = mark(service.pid);
  const topic = rankedTopic(sandbox);
  try {
    await sandbox.reached(events, service, topic);
    const cold = figures(begin, mark(service.pid), events);
    const commit = await fillLog(sandbox, { events, players, from: events, atOnce: true });
    const again = mark(service.pid);
    await commit();
    await sandbox.reached(2 * events, service, topic);
    const warm = figures(again, mark(service.pid), events);
    return { 'streams-cold': cold, 'streams-warm': warm };
  } finally {
    await service.end('SIGTERM');
  }
}
