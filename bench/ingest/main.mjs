// @ts-check
import { parseArgs } from 'node:util';
import { Partitioners } from 'kafkajs';
import { Ground, PARTITIONS } from '../ground.mjs';
import { wholeNumber } from '../options.mjs';
import { runCounter, runRanked } from './peers.mjs';
import { runRanklog } from './ranklog.mjs';

const PLAYERS = 10_000;
const BATCH = 1_000;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    json: { type: 'boolean', default: false },
  },
});
const events = wholeNumber('events', values.events, { least: 1_000, most: 5_000_000 });

const ground = new Ground('bench');
const { kafka, redis, topics, name } = ground;
await ground.open();
try {
  await fillLog();
  const bench = { kafka, redis, topics, name, events };
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
      rate: await runRanklog(ground, events),
    },
  ];
  print(rows);
} finally {
  await ground.remove();
}

async function fillLog() {
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
