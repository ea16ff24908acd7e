// @ts-check
// `npm run bench:apply -- [--players N] [--longest] [--json]`: compares the apply script with
// pipelined ZINCRBY, and with bare commands that keep the same order. They take turns, and share
// one client. `--longest` measures the longest call of the script instead, with 300,000 players by
// default; some boards have a quarter of them.
import { Redis } from 'ioredis';
import { parseBoardsFile } from '#board';
import { readOptions, wholeNumber } from '../options.mjs';
import { commands, counter, ranklog as applyScript } from './contenders.mjs';
import { longestCalls } from './longest.mjs';
import { race } from './measure.mjs';

const EVENTS_EACH = 50_000;

const values = readOptions('apply', {
  players: { type: 'string' },
  longest: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const defaultPlayers = values.longest ? '300000' : '100000';
const playersText = values.players ?? defaultPlayers;
const players = wholeNumber('players', playersText, { least: 1_000, most: 1_000_000 });

/** @type {{ views: number, columns: number, publish?: string }[]} */
const CASES = [
  ...[1, 2, 4, 8].map((views) => ({ views, columns: 1 })),
  ...[2, 3, 4].map((columns) => ({ views: 1, columns })),
  { views: 4, columns: 4 },
  { views: 1, columns: 1, publish: '{ rankChanges: none }' },
  { views: 1, columns: 1, publish: '{ rankChanges: moved }' },
  { views: 1, columns: 1, publish: '{ ranks: [ordinal, competition] }' },
  { views: 1, columns: 2, publish: '{ ranks: [ordinal, competition] }' },
  { views: 1, columns: 1, publish: '{ overtook: 3, leaders: 10 }' },
];

const redis = new Redis(process.env['REDIS_URL'] ?? '');
try {
  const rows = [];
  if (values.longest) rows.push(...(await longestCalls(redis, players)));
  else for (const each of CASES) rows.push(await measureCase(each));
  if (values.json) console.log(JSON.stringify({ players, events: EVENTS_EACH, rows }));
} finally {
  redis.disconnect();
}

/** @param {(typeof CASES)[number]} board */
async function measureCase({ views, columns, publish = '{}' }) {
  const ranked = publish !== '{ rankChanges: none }';
  const contenders = [
    await applyScript(redis, define(views, columns, publish)),
    counter(redis, { views }),
    commands(redis, { views, ranked }),
  ];
  const size = { players, events: EVENTS_EACH };
  const [ranklog, zincrby, bare] = await race(redis, size, contenders);
  if (ranklog === undefined || zincrby === undefined || bare === undefined)
    throw new Error('a contender has no figures');
  const row = { views, columns, publish, ranklog, zincrby, bare };
  if (!values.json) print(row);
  return row;
}

/** @param {Awaited<ReturnType<typeof measureCase>>} row */
function print({ views, columns, publish, ranklog, zincrby, bare }) {
  const published = publish === '{}' ? '' : `, publish: ${publish}`;
  const cpu = (/** @type {typeof ranklog} */ { serverCpu, clientCpu }) =>
    `${serverCpu.toFixed(1)} + ${clientCpu.toFixed(1)}`;
  console.log(
    `${views} view(s), ${columns} column(s)${published}\n` +
      `  ${ranklog.rate.toFixed(0)} events/s: ${zincrby.speed.toFixed(2)} times the rate of ` +
      `ZINCRBY (${zincrby.rate.toFixed(0)}), ` +
      `${bare.speed.toFixed(2)} times that of the bare commands (${bare.rate.toFixed(0)})\n` +
      `  CPU time of Redis + client in us per event: ${cpu(ranklog)} (ZINCRBY: ${cpu(zincrby)}; ` +
      `bare commands: ${cpu(bare)})\n` +
      `  ${(ranklog.bytes / views).toFixed(0)} bytes a player and view: ` +
      `${(ranklog.bytes / zincrby.bytes).toFixed(2)} times those of the plain ZSET ` +
      `(${(zincrby.bytes / views).toFixed(0)})`,
  );
}

/**
 * A board whose columns are all sums. Its first view is the one of all players; each other view has
 * an attribute of its own.
 * @param {number} views @param {number} columns @param {string} publish
 */
function define(views, columns, publish) {
  const names = Array.from({ length: columns }, (_, index) => `{ name: column${index} }`);
  const dimensions = Array.from({ length: views }, (_, index) =>
    index === 0 ? '[]' : `[a${index}]`,
  );
  const [definition] = parseBoardsFile(
    `boards: { bench: { columns: [${names.join()}], dimensions: [${dimensions.join()}], ` +
      `publish: ${publish} } }`,
    'bench',
  );
  if (definition === undefined) throw new Error('the bench has no board');
  return definition;
}
