// @ts-check
// The start cost of commands: their CPU time divided by the CPU time of an empty node process.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { parseBoardsFile } from '#board';
import { ranklog } from '../apply/contenders.mjs';
import { median, deleteKeys } from '../apply/measure.mjs';
import { readOptions } from '../options.mjs';

readOptions('start', {});

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const BOARDS = fileURLToPath(new URL('../../examples/golf/boards.yaml', import.meta.url));
const RUNS_A_ROUND = 10;
const ROUNDS = 5;

const [arena] = parseBoardsFile('boards: { arena: { columns: [{ name: score }] } }', 'boards.yaml');
if (arena === undefined) throw new Error('the boards file has no board');
const redis = new Redis(process.env['REDIS_URL'] ?? '');
const contender = await ranklog(redis, arena);
await contender.apply([{ player: 'ada', delta: 1, time: 0 }]);
const env = { ...process.env, RANKLOG_REDIS_PREFIX: contender.prefix };

const commands = {
  'boards check': [CLI, 'boards', 'check', BOARDS],
  standings: [CLI, 'standings', 'arena'],
};
for (const [name, args] of Object.entries(commands)) {
  const ratios = Array.from({ length: ROUNDS }, () => cpuSeconds(args) / cpuSeconds(['-e', '0']));
  console.log(`${name}: ${median(ratios).toFixed(2)} times the CPU of an empty node`);
}
await deleteKeys(redis, contender.prefix);
await redis.quit();

/** User and system time of RUNS_A_ROUND executions, as bash reports it. @param {string[]} args */
function cpuSeconds(args) {
  const script =
    `TIMEFORMAT='%U %S'; time for run in {1..${RUNS_A_ROUND}}; do "$@" >/dev/null || exit 1; ` +
    'done';
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
    env,
  });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return stderr.split(' ').reduce((sum, seconds) => sum + Number(seconds), 0);
}
