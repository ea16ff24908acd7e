// @ts-check
import { parseArgs } from 'node:util';
import { Sandbox, PARTITIONS } from '../sandbox.mjs';
import { fillLog } from '../log.mjs';
import { wholeNumber } from '../options.mjs';
import { runCounter, runRanked } from './peers.mjs';
import { runRanklog } from './ranklog.mjs';

const PLAYERS = 10_000;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    json: { type: 'boolean', default: false },
  },
});
const events = wholeNumber('events', values.events, { least: 1_000, most: 5_000_000 });

const sandbox = new Sandbox('bench');
const { kafka, redis, topics, name } = sandbox;
await sandbox.open();
try {
  await fillLog(sandbox, { events, players: PLAYERS });
  const bench = { kafka, redis, topics, name, events };
  const rows = [
    {
      what: 'bare kafkajs eachBatch + pipelined ZINCRBY; no ranks, no results',
      rate: await runCounter(bench),
    },
    {
      what: 'the same + ranks before and after + a result per event, in a transaction',
      rate: await runRanked(bench),
    },
    {
      what: 'ranklog ingest: exact order, outbox, dead letters, results once',
      rate: await runRanklog(sandbox, events),
    },
  ];
  print(rows);
} finally {
  await sandbox.remove();
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
      `${String(Math.round(rate)).padStart(8)} events/s   ranklog: ${(own / rate).toFixed(2)} times this rate   ${what}`,
    );
}
