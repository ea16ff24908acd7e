// @ts-check
import path from 'node:path';
import { withCleanUp } from '../clean-up.mjs';
import { ROOT } from '../services/clone.mjs';
import { compareTables, photoFinishIsRight } from './compare.mjs';
import { DemoInstance } from './instance.mjs';
import { demoOptions } from './options.mjs';
import { liveliest, readRankChanges } from './rank-changes.mjs';
import { serve } from './serve.mjs';

const FOOTBALL_EVENTS = 21_327;
const LAPS = 8;
const LAPS_THAT_CHANGE_NOTHING = 2;
const SHOWN = [
  ['football', 'all league=en.1 season=2019-20'],
  ['football', 'all league=de.1 season=2023-24'],
];

const NAME = `ranklog-demo-${Date.now().toString(36)}`;

const { serve: onPage, speed } = demoOptions();
if (onPage) await serve(NAME, speed);
else process.exitCode = await demo();

/** @returns {Promise<number>} exit code */
async function demo() {
  const begin = performance.now();
  const ranklog = new DemoInstance(NAME);
  ranklog.requireSettings();
  const work = async () => {
    await send(ranklog);
    const right = (await show(ranklog)) && (await compare(ranklog));
    console.log(
      `\n${right ? 'All as it should be' : 'NOT as it should be'}, after ${seconds(begin)} s.`,
    );
    return right ? 0 : 1;
  };
  return withCleanUp(work, () => ranklog.remove());
}

/** @param {DemoInstance} ranklog */
async function send(ranklog) {
  title('Topics');
  await ranklog.must('topics');
  ranklog.start();
  title(
    'Score events: 10,658 football matches, two events each, and 11 deductions of points; then ' +
      'eight laps',
  );
  await ranklog.must('produce', path.join(ROOT, 'demo/football/events.ndjson.gz'));
  await ranklog.must('produce', path.join(ROOT, 'demo/photo-finish/events.ndjson'));
  title('Applied to Redis and published to Kafka');
  await ranklog.must('status', '--wait', '60');
}

/**
 * @param {DemoInstance} ranklog @returns {Promise<boolean>} whether each event that changes
 * something has exactly one rank change
 */
async function show(ranklog) {
  for (const [board = '', view = ''] of SHOWN) {
    title(`ranklog standings ${board} --view "${view}" --top 6`);
    await ranklog.must('standings', board, '--view', view, '--top', '6');
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
      `${occurredAt.slice(0, 10)}  ${playerId.padEnd(20)} ` +
        `${String(before?.rank).padStart(2)} -> ${String(after?.rank).padStart(2)}  ` +
        `${arrow.padEnd(8)} ${after?.columns['points'] ?? ''} points`,
    );
  }
  const causes = new Set(changes.map(({ source }) => `${source.partition}/${source.offset}`));
  const once = changes.length === expected && causes.size === expected;
  console.log(
    `\n${changes.length} rank changes for ${expected} events that changed something, ` +
      `${causes.size} different causes: ${once ? 'each exactly once' : 'WRONG'}.`,
  );
  return once;
}

/** @param {DemoInstance} ranklog @returns {Promise<boolean>} */
async function compare(ranklog) {
  title('Compared with the official final tables');
  const { figures, order, sentence, others } = await compareTables(ranklog.reader);
  console.log(sentence);
  for (const why of others) console.log(`  ${why}`);

  title('Ties: eight laps, checked by hand (demo/photo-finish)');
  await ranklog.must('standings', 'photo-finish');
  const laps = await ranklog.reader.standings('photo-finish', { view: 'all', limit: 10 });
  const tiesRight = photoFinishIsRight(laps);
  console.log(
    '\nDrivers with equal laps rank by the time of their lap, not by name or arrival: ' +
      `${tiesRight ? 'right' : 'WRONG'}.`,
  );
  return figures === 27 && order === 22 && tiesRight;
}

/** @param {string} text */
function title(text) {
  console.log(`\n== ${text}\n`);
}

/** @param {number} begin */
function seconds(begin) {
  return ((performance.now() - begin) / 1_000).toFixed(1);
}
