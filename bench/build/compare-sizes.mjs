// @ts-check
import { Sandbox } from '../sandbox.mjs';
import { fillLog } from '../log.mjs';
import { goLive, rebuild } from './ranklog.mjs';

/** Measures the cost of a rebuild, by the size of the log. @param {{ sizes: number[], players: number }} options */
export async function compareSizes({ sizes, players }) {
  const rows = [];
  for (const events of sizes) rows.push({ events, ...(await measure({ events, players })) });
  const lines = rows.map(
    ({ events, rate, seconds, peakRss }) =>
      `${String(events).padStart(9)} events  ${String(Math.round(rate)).padStart(7)} events/s  ${seconds.toFixed(1).padStart(6)} s  ${Math.round(peakRss)} MB at most`,
  );
  return { result: { players, rows }, text: lines.join('\n') };
}

/** @param {{ events: number, players: number }} size */
async function measure({ events, players }) {
  const sandbox = new Sandbox('build');
  await sandbox.open();
  try {
    await fillLog(sandbox, { events, players });
    await goLive(sandbox);
    const { seconds, peakRss } = await rebuild(sandbox);
    return { rate: events / seconds, seconds, peakRss };
  } finally {
    await sandbox.remove();
  }
}
