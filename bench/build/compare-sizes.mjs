// @ts-check
import { fillLog } from '../log.mjs';
import { goLive, measureRebuild } from '../ranklog.mjs';
import { withSandbox } from '../sandbox.mjs';

/**
 * Measures the cost of a rebuild, by the size of the log. @param {{ sizes: number[], players:
 * number }} options
 */
export async function compareSizes({ sizes, players }) {
  const rows = [];
  for (const events of sizes) rows.push({ events, ...(await measure({ events, players })) });
  const lines = rows.map(
    ({ events, rate, own, redis, rss }) =>
      `${String(events).padStart(9)} events  ${String(Math.round(rate)).padStart(7)} events/s  ` +
      `us of CPU per event: ${own.toFixed(1)}, Redis ${redis.toFixed(1)}  ${Math.round(rss)} ` +
      'MB at most',
  );
  return { result: { players, rows }, text: lines.join('\n') };
}

/** @param {import('../log.mjs').Size} size */
function measure(size) {
  return withSandbox(async (sandbox) => {
    await fillLog(sandbox, size);
    await goLive(sandbox);
    return measureRebuild(sandbox, size);
  });
}
