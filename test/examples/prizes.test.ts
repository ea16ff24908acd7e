import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createCluster } from '../../libs/kafka-batch/kafkajs/cluster.js';
import { TestInstance, until } from '../support/instance.js';
import { announce, weekResult } from '../support/period-results.js';

const BOARDS = 'boards: { weekly: { columns: [{ name: points }] } }';

/** Makes `@ranklog/client` the client of this project, as if it were installed. */
function clientHook(): string {
  const client = pathToFileURL('dist/libs/client/index.js').href;
  const hooks = `export const resolve = (name, context, next) =>
    next(name === '@ranklog/client' ? '${client}' : name, context);`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hooks))});`;
  return dataUrl(register);
}

const dataUrl = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;

let instance: TestInstance;
const running: ChildProcess[] = [];
let output = '';

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: 1 });
});
afterAll(async () => {
  await Promise.all(running.map(kill));
  await instance.redis.unlink(payments());
  await instance.remove();
});

const payments = () => `${instance.name}-payments`;

function start(): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--import', clientHook(), 'examples/weekly-game/prizes.mjs'],
    { env: instance.env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  running.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close'); // its output has been read
  child.kill('SIGKILL');
  await closed;
}

/** The position of the payer; -1 before its first commit. */
async function committed(): Promise<number> {
  const { admin, name, topics } = instance;
  const groupId = `${name}-prizes`;
  const [found] = await admin.fetchOffsets({ groupId, topics: [topics.periodResults] });
  return Number(found?.partitions[0]?.offset ?? -1);
}

/** Removes the member that was killed from its group, which else waits 10 s for it. */
async function removeMembers(): Promise<void> {
  const { admin, kafka, name } = instance;
  const groupId = `${name}-prizes`;
  const { groups } = await admin.describeGroups([groupId]);
  const cluster = createCluster(kafka);
  await cluster.connect();
  const coordinator = await cluster.findGroupCoordinator({ groupId, coordinatorType: 0 });
  for (const { memberId } of groups[0]?.members ?? [])
    await (coordinator as unknown as GroupCoordinator).leaveGroup({ groupId, memberId });
  await cluster.disconnect();
}

interface GroupCoordinator {
  leaveGroup(member: { groupId: string; memberId: string }): Promise<unknown>;
}

it('prizes.mjs pays the first, the top 3 and the top 5 % once, though it is killed between payment and commit', async () => {
  const { kafka, redis, topics } = instance;
  // 80 players: the top 5 % are the first four places, of which the fourth is shared.
  const points = { ada: 90, bob: 80, cyd: 70, dan: 60, eve: 60, fay: 50 };
  const week = { size: 80 };
  const guild = { view: 'week:2026-W47 guild=owls' };
  const others = [weekResult(points, guild), weekResult(points, { board: 'daily' })];
  await announce(kafka, topics, [weekResult(points, week), ...others]);
  const first = start();
  await until(async () => (await redis.hlen(payments())) > 0, 'the first payment is made');
  await kill(first);
  expect(await committed()).toBe(-1);
  const paid = await redis.hlen(payments());

  await removeMembers();
  start();
  await announce(kafka, topics, [weekResult(points, { ...week, revision: 2 })]);
  await until(async () => (await committed()) >= 5, 'all results are handled');
  expect(paid).toBeGreaterThan(0);
  expect(await redis.hgetall(payments())).toEqual({
    'weekly/week:2026-W47/1 ada': '1000',
    'weekly/week:2026-W47/1 bob': '300',
    'weekly/week:2026-W47/1 cyd': '300',
    'weekly/week:2026-W47/1 dan': '50',
    'weekly/week:2026-W47/1 eve': '50',
  });
  const said = output.split('\n').filter((line) => line !== '');
  expect(new Set(said).size).toBe(said.length);
});
