// @ts-check
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../services/state.mjs';
import { compareTable, officialTables, photoFinishIsRight, viewOf } from './compare.mjs';
import { DemoInstance } from './instance.mjs';
import { liveliest, readRankChanges } from './rank-changes.mjs';

const FOOTBALL_EVENTS = 21_327;
const LAPS = 8;
const LAPS_THAT_CHANGE_NOTHING = 2;
const SHOWN = [
  ['football', 'all league=en.1 season=2019-20'],
  ['football', 'all league=de.1 season=2023-24'],
];

const HELP = `Usage: npm run demo -- [--serve]

Sends 27 football seasons through Kafka into boards in Redis, and compares the tables with the official ones.

  --serve   keep it running afterwards, to try the commands on it
`;

const { values } = parseArgs({
  options: { serve: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) console.log(HELP);
else process.exitCode = await demo(values.serve ?? false);

/** @param {boolean} serve @returns {Promise<number>} exit code */
async function demo(serve) {
  const begin = performance.now();
  const ranklog = new DemoInstance(`ranklog-demo-${Date.now().toString(36)}`);
  try {
    await send(ranklog);
    const right = (await show(ranklog)) && (await compare(ranklog));
    console.log(
      `\n${right ? 'All as it should be' : 'NOT as it should be'}, after ${seconds(begin)} s.`,
    );
    if (serve) await keepRunning(ranklog);
    return right ? 0 : 1;
  } finally {
    await ranklog.remove();
  }
}

/** @param {DemoInstance} ranklog */
async function send(ranklog) {
  title('Topics');
  await must(ranklog, 'topics');
  ranklog.start();
  title(
    'Score events: 10,658 football matches, two events each, and 11 deductions of points; then eight laps',
  );
  await must(ranklog, 'produce', path.join(ROOT, 'demo/football/events.ndjson.gz'));
  await must(ranklog, 'produce', path.join(ROOT, 'demo/photo-finish/events.ndjson'));
  title('Applied to Redis and published to Kafka');
  await must(ranklog, 'status', '--wait', '60');
}

/** @param {DemoInstance} ranklog @returns {Promise<boolean>} whether each event that changes something has exactly one rank change */
async function show(ranklog) {
  for (const [board = '', view = ''] of SHOWN) {
    title(`ranklog standings ${board} --view "${view}" --top 6`);
    await must(ranklog, 'standings', board, '--view', view, '--top', '6');
  }
  const expected = FOOTBALL_EVENTS + LAPS - LAPS_THAT_CHANGE_NOTHING;
  const changes = await readRankChanges(ranklog.kafka, ranklog.name, expected);
  const view = 'all league=en.1 season=2015-16';
  title(`The largest movements in the view "${view}"`);
  for (const { change, movement, places } of liveliest(changes, view, 6)) {
    const { playerId, occurredAt } = change;
    const { before, after } = movement;
    const arrow = places > 0 ? `up ${places}` : `down ${-places}`;
    console.log(
      `${occurredAt.slice(0, 10)}  ${playerId.padEnd(20)} ${String(before?.rank).padStart(2)} -> ${String(after?.rank).padStart(2)}  ${arrow.padEnd(8)} ${after?.columns['points'] ?? ''} points`,
    );
  }
  const causes = new Set(changes.map(({ source }) => `${source.partition}/${source.offset}`));
  const once = changes.length === expected && causes.size === expected;
  console.log(
    `\n${changes.length} rank changes for ${expected} events that changed something, ${causes.size} different causes: ${once ? 'each exactly once' : 'WRONG'}.`,
  );
  return once;
}

/** @param {DemoInstance} ranklog @returns {Promise<boolean>} */
async function compare(ranklog) {
  title('Compared with the official final tables');
  const results = [];
  for (const table of officialTables()) {
    const standings = await ranklog.reader.standings('football', {
      view: viewOf(table),
      limit: 100,
    });
    results.push(compareTable(table, standings));
  }
  const figures = results.filter((result) => result.figures).length;
  const order = results.filter((result) => result.order).length;
  console.log(
    `${figures} of ${results.length} tables have the official figures, ${order} of ${results.length} the official order.`,
  );
  for (const { why } of results.filter((result) => !result.order)) console.log(`  ${why}`);

  title('Ties: eight laps, checked by hand (demo/photo-finish)');
  await must(ranklog, 'standings', 'photo-finish');
  const laps = await ranklog.reader.standings('photo-finish', { view: 'all', limit: 10 });
  const tiesRight = photoFinishIsRight(laps);
  console.log(
    `\nDrivers with equal laps rank by the time of their lap, not by name or arrival: ${tiesRight ? 'right' : 'WRONG'}.`,
  );
  return figures === 27 && order === 22 && results.length === 27 && tiesRight;
}

/** @param {DemoInstance} ranklog */
async function keepRunning({ name, env, log }) {
  title('Still running; Ctrl-C ends it');
  const variables = ['RANKLOG_TOPIC_PREFIX', 'RANKLOG_GROUP', 'RANKLOG_REDIS_PREFIX'].map(
    (variable) => `${variable}=${name}`,
  );
  console.log(`In another terminal:

  export ${variables.join(' ')}
  export KAFKA_BROKERS=${env['KAFKA_BROKERS'] ?? ''} REDIS_URL=${env['REDIS_URL'] ?? ''}
  npm run -s ranklog -- watch football
  npm run -s ranklog -- rank football liverpool
  npm run -s ranklog -- produce demo/football/events.ndjson.gz

Its log: ${log}`);
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
  });
}

/** @param {DemoInstance} ranklog @param {string[]} args */
async function must(ranklog, ...args) {
  const code = await ranklog.command(...args);
  if (code !== 0)
    throw new Error(
      `ranklog ${args.join(' ')} ended with ${code}; the log of the service is ${ranklog.log}`,
    );
}

/** @param {string} text */
function title(text) {
  console.log(`\n== ${text}\n`);
}

/** @param {number} begin */
function seconds(begin) {
  return ((performance.now() - begin) / 1_000).toFixed(1);
}
