// @ts-check
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';

const CLI = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/**
 * Ingest as a process of its own: from its first commit to the last, so that the start of node does not count.
 * @param {{ admin: import('kafkajs').Admin, topics: { scoreEvents: string }, name: string, events: number, boards: string }} bench
 * @returns {Promise<number>} events per second, results published
 */
export async function runRanklog({ admin, topics, name, events, boards }) {
  const env = {
    ...process.env,
    RANKLOG_BOARDS: boards,
    RANKLOG_TOPIC_PREFIX: name,
    RANKLOG_GROUP: name,
    RANKLOG_REDIS_PREFIX: name,
    RANKLOG_LOG_LEVEL: 'warn',
  };
  const service = spawn(process.execPath, [CLI, 'start'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const committed = async () => {
    const [topic] = await admin.fetchOffsets({ groupId: name, topics: [topics.scoreEvents] });
    return (topic?.partitions ?? []).reduce(
      (sum, { offset }) => sum + Math.max(0, Number(offset)),
      0,
    );
  };
  let first = 0;
  while (first === 0 && service.exitCode === null) {
    await delay(10);
    first = await committed();
  }
  const begin = performance.now();
  let last = first;
  while (last < events && service.exitCode === null) {
    await delay(20);
    last = await committed();
  }
  const seconds = (performance.now() - begin) / 1_000;
  service.kill('SIGTERM');
  await new Promise((resolve) => service.on('close', resolve));
  return (events - first) / seconds;
}
