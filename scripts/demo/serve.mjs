// @ts-check
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import getPort, { portNumbers } from 'get-port';
import { kindOfRedis } from '#servers';
import { withCleanUp } from '../clean-up.mjs';
import { HOME, ROOT } from '../services/clone.mjs';
import { compareTables, officialTables } from './compare.mjs';
import { DemoInstance } from './instance.mjs';
import { matchDays, replay } from './replay.mjs';

const FOLDER = path.join(path.relative(ROOT, HOME), 'demo');
/** A copy, so that whoever tries the demo can change it. */
const BOARDS = path.join(FOLDER, 'boards.yaml');
/** For commands in another terminal. */
const SETTINGS = path.join(FOLDER, 'ranklog.yaml');
const FIRST_TABLE = 'football/en.1/2013-14';

/**
 * Replays the football seasons on a page, `speed` match days a second, until SIGINT or SIGTERM.
 * @param {string} name of the instance @param {number} speed
 */
export async function serve(name, speed) {
  const { signal, ended } = endOfDemo();
  const port = await getPort({ host: '127.0.0.1', port: portNumbers(9464, 9563) });
  const ranklog = new DemoInstance(name, { boards: BOARDS, port });
  ranklog.requireSettings();
  writeFiles(ranklog);
  const work = async () => {
    try {
      await showSeasons(ranklog, { speed, signal });
      await ended;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  await withCleanUp(work, () => {
    console.log('\nRemoving the topics and keys of the demo.');
    return ranklog.remove();
  });
}

/** @param {DemoInstance} ranklog @param {{ speed: number, signal: AbortSignal }} options */
async function showSeasons(ranklog, { speed, signal }) {
  await ranklog.must('topics');
  ranklog.start();
  await ranklog.must('produce', path.join(ROOT, 'demo/photo-finish/events.ndjson'));
  await ranklog.whenReady();
  const days = matchDays();
  const end = new Date(Date.now() + (days.length / speed) * 1_000).toTimeString().slice(0, 5);
  console.log(explanation(ranklog, end));
  await replay(ranklog, { days, speed, signal, onDay: reporter(ranklog.url) });
  await ranklog.must('status', '--wait', '60');
  await compare(ranklog);
}

/** Writes the boards file, and the settings. @param {DemoInstance} ranklog */
function writeFiles({ name, env }) {
  mkdirSync(FOLDER, { recursive: true });
  copyFileSync('demo/boards.yaml', BOARDS);
  const settings = {
    ...{ boards: BOARDS, topicPrefix: name, group: name, redisPrefix: name },
    ...{ kafkaBrokers: env['KAFKA_BROKERS'], redisUrl: env['REDIS_URL'] },
  };
  writeFileSync(SETTINGS, JSON.stringify(settings, null, 2)); // JSON is YAML, too
}

/**
 * @returns {{ signal: AbortSignal, ended: Promise<void> }} aborted and resolved by the first SIGINT
 * or SIGTERM; a second one kills
 */
function endOfDemo() {
  const controller = new AbortController();
  const ended = new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'])
      process.once(name, () => {
        controller.abort();
        resolve(undefined);
      });
  });
  return { signal: controller.signal, ended };
}

/**
 * What to open and what to try. @param {DemoInstance} ranklog @param {string} end when the replay
 * ends
 */
function explanation({ url, env, log }, end) {
  const redis = env['REDIS_URL'] ?? '';
  return `
Open  ${addressOf(url, FIRST_TABLE)}
or, for all seasons in one table:  ${url}/#board=football&view=all

Rows move now, until about ${end}. When the season has ended, open the address of another one, as
printed below. Ctrl-C ends the demo. To try more, open another terminal in this folder:

  export RANKLOG_CONFIG=${SETTINGS}

Change the definition under the page: rank by goals before points. Then take the change back.

  sed '/name: points/{N;h;d;}; /name: goalsFor/G' demo/boards.yaml > ${BOARDS}
  npm run -s ranklog -- boards apply --yes
  npm run -s ranklog -- boards rollback football
  cp demo/boards.yaml ${BOARDS}

Empty Redis (everything in ${redis}): ranklog builds the boards again from Kafka, within seconds.
Then compare them with the log.

  ${flushCommand(redis)}
  npm run -s ranklog -- boards verify

The log of the service: ${log}
`;
}

/** The command that empties all primaries of Redis. @param {string} url */
function flushCommand(url) {
  if (kindOfRedis(url) === 'single')
    return `node -e "new (require('ioredis').Redis)('${url}').flushall().then(() => process.exit())"`;
  const flush = `Promise.all((this.nodes?.('master') ?? [this]).map((node) => node.flushall()))`;
  return (
    `node -e "import('#servers').then(({ openRedis }) => openRedis('${url}').on('ready', ` +
    `function () { ${flush}.then(() => process.exit()) }))"`
  );
}

/**
 * Prints a line with an address when a season begins.
 * @param {string} url of the page
 */
function reporter(url) {
  const names = new Map(officialTables().map(({ board, name }) => [board, name]));
  /** @type {Set<string>} */
  const begun = new Set();
  return (/** @type {import('./replay.mjs').MatchDay} */ { date, tables }) => {
    for (const table of tables.filter((each) => !begun.has(each))) {
      begun.add(table);
      console.log(`${date}  ${names.get(table)} begins: ${addressOf(url, table)}`);
    }
  };
}

/**
 * The address of a table.
 * @param {string} url of the page @param {string} table `football/<league>/<season>`
 */
export function addressOf(url, table) {
  const [board, league, season] = table.split('/');
  return `${url}/#board=${board}&view=all%20league=${league}%20season=${season}`;
}

/** @param {DemoInstance} ranklog */
async function compare({ reader }) {
  const { sentence } = await compareTables(reader);
  console.log(`\nThe last season has ended. ${sentence}\nCtrl-C ends the demo.`);
}
