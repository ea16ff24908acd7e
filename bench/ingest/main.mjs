// @ts-check
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { topicNames } from '#contracts';
import { wholeNumber } from '../options.mjs';
import { runCounter, runRanked } from './peers.mjs';
import { runRanklog } from './ranklog.mjs';

const PARTITIONS = 4;
const PLAYERS = 10_000;
const BATCH = 1_000;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    json: { type: 'boolean', default: false },
  },
});
const events = wholeNumber('events', values.events, { least: 1_000, most: 5_000_000 });

const name = `bench-${randomUUID().slice(0, 8)}`;
const topics = topicNames(name);
const kafka = new Kafka({
  brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
  logLevel: logLevel.NOTHING,
});
const redis = new Redis(process.env['REDIS_URL'] ?? '');
const admin = kafka.admin();
const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-bench-'));
await admin.connect();
try {
  await fillLog();
  const bench = { kafka, redis, admin, topics, name, events, boards: writeBoards() };
  const rows = [
    {
      what: 'bare kafkajs eachBatch + pipelined ZINCRBY; no ranks, no results',
      rate: await runCounter(bench),
    },
    {
      what: 'the same + ranks before and after + a result each, in a transaction',
      rate: await runRanked(bench),
    },
    {
      what: 'ranklog ingest: exact order, outbox, dead letters, results once',
      rate: await runRanklog(bench),
    },
  ];
  print(rows);
} finally {
  await admin.deleteTopics({ topics: Object.values(topics) });
  await admin.disconnect();
  const keys = await redis.keys(`${name}*`);
  if (keys.length > 0) await redis.unlink(...keys);
  redis.disconnect();
  rmSync(folder, { recursive: true });
}

async function fillLog() {
  await admin.createTopics({
    topics: Object.values(topics).map((topic) => ({ topic, numPartitions: PARTITIONS })),
  });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const begin = Date.parse('2026-01-01T00:00:00Z');
  for (let from = 0; from < events; from += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, events - from) }, (_, index) => {
      const playerId = `player-${Math.floor(Math.random() * PLAYERS)}`;
      const occurredAt = new Date(begin + from + index).toISOString();
      const delta = String(1 + Math.floor(Math.random() * 1_000));
      return {
        key: playerId,
        value: JSON.stringify({ board: 'arena', playerId, delta, occurredAt }),
      };
    });
    await producer.send({ topic: topics.scoreEvents, messages });
  }
  await producer.disconnect();
}

function writeBoards() {
  const file = path.join(folder, 'boards.yaml');
  writeFileSync(file, 'boards: { arena: { columns: [{ name: score }] } }\n');
  return file;
}

/** @param {{ what: string, rate: number }[]} rows events per second each, the peers first */
function print(rows) {
  if (values.json) {
    console.log(JSON.stringify({ events, players: PLAYERS, partitions: PARTITIONS, rows }));
    return;
  }
  const own = rows.at(-1)?.rate ?? 0;
  console.log(
    `${events} events, ${PLAYERS} players, ${PARTITIONS} partitions, one column, one view\n`,
  );
  for (const { what, rate } of rows)
    console.log(
      `${String(Math.round(rate)).padStart(8)} events/s   ranklog is ${(own / rate).toFixed(2)} of it   ${what}`,
    );
}
