// @ts-check
import { Sandbox, PARTITIONS } from '../sandbox.mjs';
import { fillLog } from '../log.mjs';
import { runPeer } from './processes.mjs';
import { checkScores, goLive, rebuild } from './ranklog.mjs';

/** @typedef {{ events: number, players: number }} Size */

/** Compares a rebuild with two peers that read the same log, one after the other. @param {Size} size */
export async function compareRates({ events, players }) {
  const sandbox = new Sandbox('build');
  const { topics, name } = sandbox;
  await sandbox.open();
  try {
    await fillLog(sandbox, { events, players });
    const task = { topics, name, events };
    const counter = await runPeer('./each-batch.mjs', task);
    const handler = await runPeer('./nest-handler.mjs', task);
    await goLive(sandbox);
    const own = await rebuild(sandbox);
    await checkScores(sandbox, `${name}-counter`);
    const rows = [
      { what: 'bare kafkajs eachBatch + pipelined ZINCRBY', ...counter },
      { what: 'stock Nest @EventPattern handler + ZINCRBY', ...handler },
      { what: 'ranklog boards rebuild', ...own },
    ].map((row) => ({ ...row, rate: events / row.seconds }));
    const result = { events, players, partitions: PARTITIONS, rows };
    return { result, text: table(result) };
  } finally {
    await sandbox.remove();
  }
}

/** @param {Size & { partitions: number, rows: { what: string, rate: number, besides: number, peakRss: number }[] }} result */
function table({ events, players, partitions, rows }) {
  const own = rows.at(-1)?.rate ?? 0;
  const lines = rows.map(({ what, rate, besides, peakRss }) =>
    [
      `${String(Math.round(rate)).padStart(8)} events/s`,
      (rate === own ? '' : `ranklog: ${(own / rate).toFixed(2)} times this rate`).padEnd(29),
      `${besides.toFixed(1)} s more to start and end the process`,
      `${String(Math.round(peakRss))} MB`,
      what,
    ].join('   '),
  );
  return [`${events} events, ${players} players, ${partitions} partitions`, '', ...lines].join(
    '\n',
  );
}
