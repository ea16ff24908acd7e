import { LEASE_MS } from '#board-store';
import { eventually } from '../../support/eventually.js';
import { hashOf } from '../check/facts.js';
import { pick, type Random } from '../random.js';
import { readPromotions } from '../world/read-facts.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import {
  applyOf,
  beginBuild,
  continues,
  expireLeases,
  rebuildOf,
  someBoards,
  succeeds,
  type BuildRequest,
} from './build-under-way.js';
import { restartEmpty, restoreSnapshot } from './servers.js';

/**
 * Faults of `ranklog boards ...` under load. A fault that changes definitions changes them back.
 */

/**
 * A fault that does `work` during a build: a rebuild of some boards, or a build with other
 * definitions. It changes the definitions back once results of the new definitions are published.
 */
function duringBuild(
  name: string,
  work: (world: World, random: Random, request: BuildRequest) => Promise<void>,
): Fault {
  return {
    name,
    async run(world, random) {
      const boards = someBoards(random);
      if (random() < 0.5) {
        await work(world, random, rebuildOf(boards));
      } else {
        await work(world, random, applyOf(boards));
        world.count('definitions changed', boards.length);
        await changeBack(world);
      }
    },
  };
}

export async function changeBack(world: World): Promise<void> {
  await world.publishedEverywhere();
  await world.publishedMore(20);
  const built = await succeeds(
    world,
    await world.boards(['apply', '--yes', '--allow-left-out', '--json']),
  );
  world.note(`changed back: ${built.map(({ board }) => board).join(', ')}`);
  await world.publishedEverywhere();
}

/** Applies other definitions of some boards. */
export async function change(world: World, random: Random) {
  const { args, changed } = applyOf(someBoards(random));
  const built = await succeeds(world, await world.boards(args, changed));
  world.did('definitions changed', `changed: ${changed.join(', ')}`, built.length);
  return built;
}

async function rollBack(world: World, random: Random): Promise<void> {
  const [board = 'arena'] = someBoards(random);
  const [built] = await succeeds(world, await world.boards(rebuildOf([board]).args));
  const [to, from] = [built?.previous ?? null, built?.generation ?? null];
  const steps = [
    { generation: to, previous: from },
    { generation: from, previous: to },
  ];
  for (const wanted of steps) {
    await world.publishedMore(20);
    const command = await world.boards(['rollback', board, '--json']);
    const done = JSON.parse(await command.output()) as typeof wanted;
    if (done.generation !== wanted.generation || done.previous !== wanted.previous)
      throw new Error(`rolled back to ${JSON.stringify(done)}, not to ${wanted.generation}`);
    world.did('rollbacks', `${board} is at generation ${wanted.generation}`);
  }
}

/** Exit code of a command that is refused because another one holds the lease. */
const REFUSED = 3;
/** How long the first build takes: longer than the start of a second command. */
const SECONDS_OF_THE_FIRST = 10;

async function startTwoBuilders(
  world: World,
  random: Random,
  request: BuildRequest,
): Promise<void> {
  const first = await beginBuild(world, random, { ...request, seconds: SECONDS_OF_THE_FIRST });
  const second = await world.boards(rebuildOf([pick(random, request.boards)]).args);
  const code = await second.exitCode();
  if (code === REFUSED) {
    world.did('builders refused', 'a second builder was refused');
    await succeeds(world, first);
  } else if (first.hasEnded) world.note('a second builder came too late');
  else throw new Error(`a second builder ended with ${code}: ${second.log}`);
}

async function freezeBuilder(world: World, random: Random, request: BuildRequest): Promise<void> {
  const frozen = await beginBuild(world, random, request);
  frozen.signal('SIGSTOP');
  const frozenAt = performance.now();
  await expireLeases(world, request.boards);
  await continues(world, request);
  // A builder that loses its lease before the lease has expired by its own clock assumes a loss of
  // Redis, and begins again.
  const hasExpired = () => performance.now() - frozenAt > LEASE_MS;
  await eventually(hasExpired, 'the lease has expired by the clock of the frozen builder, too');
  const live = await world.live();
  frozen.signal('SIGCONT');
  await frozen.exitCode();
  const now = await world.live();
  for (const [board, generation] of live)
    if (now.get(board) !== generation)
      throw new Error(`the frozen builder promoted ${board} after it had lost the lease`);
  world.did('builders frozen', `a frozen builder of ${request.boards.join(', ')} had no effect`);
}

/**
 * Waits until the definitions topic has the live generations: workers write what a killed builder
 * could not. They write only the last promotion of a board, so the next one has to come later, or
 * the checks would not know of both.
 */
async function areRecorded(world: World, boards: BuildRequest['boards']): Promise<void> {
  await eventually(
    async () => {
      const recorded = new Set((await readPromotions(world)).map(({ generation }) => generation));
      const live = await world.live();
      return boards.every((board) => recorded.has(live.get(board) ?? ''));
    },
    `the definitions topic has the live generations of ${boards.join(', ')}`,
  );
}

async function restoreWhileBuilding(
  world: World,
  random: Random,
  request: BuildRequest,
): Promise<void> {
  const isBefore = random() < 0.5;
  if (isBefore) await world.server.snapshot();
  const build = await beginBuild(world, random, request);
  if (!isBefore) {
    await world.server.snapshot();
    await world.publishedMore(20);
  }
  await restoreSnapshot(world);
  await succeeds(world, build);
}

export const BUILD_FAULTS: readonly Fault[] = [
  {
    name: 'rebuild',
    async run(world, random) {
      const { args, boards } = rebuildOf(someBoards(random));
      await succeeds(world, await world.boards(args));
      world.note(`rebuilt: ${boards.join(', ')}`);
    },
  },
  { name: 'roll-back', run: rollBack },
  {
    name: 'change-definitions',
    async run(world, random) {
      await change(world, random);
      await changeBack(world);
    },
  },
  duringBuild('kill-builder', async (world, random, request) => {
    const build = await beginBuild(world, random, request);
    await build.kill();
    if (random() < 0.75) await expireLeases(world, request.boards);
    world.did('builders killed', `a builder of ${request.boards.join(', ')} was killed`);
    await continues(world, request);
  }),
  duringBuild('kill-at-promotion', async (world, _random, request) => {
    const before = await world.live();
    const build = await world.boards(request.args, request.changed);
    await eventually(async () => {
      const live = await world.live();
      return request.boards.some((board) => live.get(board) !== before.get(board));
    }, 'a build is live');
    await build.kill();
    await expireLeases(world, request.boards);
    world.did(
      'builders killed',
      `a builder of ${request.boards.join(', ')} was killed at its first promotion`,
    );
    await areRecorded(world, request.boards);
    await continues(world, request);
  }),
  duringBuild('two-builders', startTwoBuilders),
  duringBuild('frozen-builder', freezeBuilder),
  duringBuild('lose-while-building', async (world, random, request) => {
    const build = await beginBuild(world, random, request);
    await restartEmpty(world);
    await succeeds(world, build);
  }),
  {
    ...duringBuild('restore-while-building', restoreWhileBuilding),
    redis: ['single'],
  },
  {
    name: 'lose-changed',
    async run(world, random) {
      const built = await change(world, random);
      await world.publishedMore(20);
      await restartEmpty(world);
      await world.publishedEverywhere();
      const live = await world.live();
      for (const { board, generation } of built)
        if (hashOf(live.get(board) ?? '') !== hashOf(generation))
          throw new Error(`${board}: ${live.get(board)} lacks the definition of ${generation}`);
      await changeBack(world);
    },
  },
];
