import { LEASE_MS } from '#board-store';
import { hashOf } from '../check/facts.js';
import { pick, type Random } from '../load.js';
import { eventually } from '../../support/eventually.js';
import type { World } from '../world/world.js';
import {
  applyOf,
  beginBuild,
  goesOn,
  letLeaseRunOut,
  rebuildOf,
  someBoards,
  succeeds,
  type BuildWish,
} from './build-under-way.js';
import type { Fault } from './fault.js';
import { loseAll } from './redis-server.js';

/** Faults of `ranklog boards ...`, beside the load. Definitions that they change are changed back. */

/** Boards are built as they are, or otherwise: then that is in force meanwhile, and everything is published by it. */
async function withSomeBuild(
  world: World,
  random: Random,
  work: (wish: BuildWish) => Promise<void>,
): Promise<void> {
  const boards = someBoards(random);
  if (random() < 0.5) {
    await work(rebuildOf(boards));
    await world.publishedMore(20);
    return;
  }
  await work(applyOf(boards));
  world.count('definitions changed', boards.length);
  await changeBack(world);
}

/** Once everything that comes was published by what is in force now, the first definitions are applied. */
async function changeBack(world: World): Promise<void> {
  await world.publishedEverywhere();
  await world.publishedMore(20);
  const built = await succeeds(world, await world.boards(['apply', '--yes', '--json']));
  world.note(`changed back: ${built.map(({ board }) => board).join(', ')}`);
  await world.publishedEverywhere();
}

export const rebuild: Fault = {
  name: 'rebuild',
  does: 'boards are built anew beside the load',
  async run(world, random) {
    const { args, boards } = rebuildOf(someBoards(random));
    await succeeds(world, await world.boards(args));
    world.note(`rebuilt: ${boards.join(', ')}`);
    await world.publishedMore(20);
  },
};

export const changeDefinitions: Fault = {
  name: 'change-definitions',
  does: '`boards apply` changes the boards, and changes them back',
  async run(world, random) {
    const { args, changed } = applyOf(someBoards(random));
    const built = await succeeds(world, await world.boards(args, changed));
    world.count('definitions changed', built.length);
    world.note(`changed: ${changed.join(', ')}`);
    await changeBack(world);
  },
};

interface RolledBack {
  readonly generation: string;
  readonly previous: string | null;
}

export const rollBack: Fault = {
  name: 'roll-back',
  does: 'a board is built anew, rolled back, and forward again',
  async run(world, random) {
    const [board = 'arena'] = someBoards(random);
    const [built] = await succeeds(world, await world.boards(rebuildOf([board]).args));
    const [to, from] = [built?.previous ?? null, built?.generation ?? null];
    for (const [generation, previous] of [
      [to, from],
      [from, to],
    ]) {
      await world.publishedMore(20);
      const command = await world.boards(['rollback', board, '--json']);
      const done = JSON.parse(await command.output()) as RolledBack;
      if (done.generation !== generation || done.previous !== previous)
        throw new Error(`rolled back to ${JSON.stringify(done)}, and not to ${generation}`);
      world.count('rollbacks');
    }
    world.note(`${board} rolled back, and forward again`);
    await world.publishedMore(20);
  },
};

export const killBuilder: Fault = {
  name: 'kill-builder',
  does: 'SIGKILL to a build of boards, which goes on when it is started again',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const build = await beginBuild(world, random, wish);
      await build.kill();
      if (random() < 0.75) for (const board of wish.boards) await letLeaseRunOut(world, board);
      world.count('builders killed');
      world.note(`a builder of ${wish.boards.join(', ')} was killed`);
      await goesOn(world, wish);
    }),
};

export const killAtPromotion: Fault = {
  name: 'kill-at-promotion',
  does: 'SIGKILL to a build of boards as soon as one of them is live; it is started again',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const before = await world.live();
      const build = await world.boards(wish.args, wish.changed);
      await eventually(async () => {
        const live = await world.live();
        return wish.boards.some((board) => live.get(board) !== before.get(board));
      }, 'a build is live');
      await build.kill();
      for (const board of wish.boards) await letLeaseRunOut(world, board);
      world.count('builders killed');
      world.note(`a builder of ${wish.boards.join(', ')} was killed when the first was live`);
      await goesOn(world, wish);
    }),
};

/** Longer than a command takes to start. */
const SECONDS_OF_THE_FIRST = 10;

export const twoBuilders: Fault = {
  name: 'two-builders',
  does: 'two builds of a board at once, of which the second one is refused',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const first = await beginBuild(world, random, { ...wish, seconds: SECONDS_OF_THE_FIRST });
      const second = await world.boards(rebuildOf([pick(random, wish.boards)]).args);
      const code = await second.exitCode();
      const isRefused = code === REFUSED;
      if (!isRefused && !first.hasEnded)
        throw new Error(`a second builder ended with ${code}: ${second.words}`);
      if (isRefused) world.count('builders refused');
      world.note(isRefused ? 'a second builder was refused' : 'a second builder came too late');
      if (isRefused) await succeeds(world, first);
    }),
};

/** Exit code of a command that finds somebody else at work. */
const REFUSED = 3;

export const frozenBuilder: Fault = {
  name: 'frozen-builder',
  does: 'SIGSTOP to a build of boards until its lease has run out and another one has gone on; SIGCONT has no effect then',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const frozen = await beginBuild(world, random, wish);
      frozen.signal('SIGSTOP');
      const frozenAt = performance.now();
      for (const board of wish.boards) await letLeaseRunOut(world, board);
      await goesOn(world, wish);
      // One that is lost before its time was lost by Redis: then its holder begins again, and rightly so.
      const hasRunOut = () => performance.now() - frozenAt > LEASE_MS;
      await eventually(hasRunOut, 'the lease has run out by the clock of its holder, too');
      const live = await world.live();
      frozen.signal('SIGCONT');
      await frozen.exitCode();
      const now = await world.live();
      for (const [board, generation] of live)
        if (now.get(board) !== generation)
          throw new Error(`a builder made ${board} live whose lease another one had`);
      world.count('builders frozen');
      world.note(`a frozen builder of ${wish.boards.join(', ')} had no effect`);
    }),
};

export const loseWhileBuilding: Fault = {
  name: 'lose-while-building',
  does: 'Redis comes back empty while boards are built, which begins again by itself',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const build = await beginBuild(world, random, wish);
      await loseAll(world);
      world.note('Redis restarted empty while boards were built');
      await succeeds(world, build);
    }),
};

export const restoreWhileBuilding: Fault = {
  name: 'restore-while-building',
  does: 'Redis comes back from a snapshot that it made before or while boards were built, which ends well by itself',
  run: (world, random) =>
    withSomeBuild(world, random, async (wish) => {
      const isBefore = random() < 0.5;
      if (isBefore) await world.redis.snapshot();
      const build = await beginBuild(world, random, wish);
      if (!isBefore) {
        await world.redis.snapshot();
        await world.publishedMore(20);
      }
      await world.redis.kill();
      world.hasLost();
      await world.redis.startFromSnapshot();
      world.count('restores of a snapshot');
      world.note('Redis restored from a snapshot while boards were built');
      await succeeds(world, build);
    }),
};

export const loseChanged: Fault = {
  name: 'lose-changed',
  does: 'boards are changed, Redis comes back empty, and the changed boards are still in force; then they are changed back',
  async run(world, random) {
    const { args, changed } = applyOf(someBoards(random));
    const built = await succeeds(world, await world.boards(args, changed));
    world.count('definitions changed', built.length);
    await world.publishedMore(20);
    await loseAll(world);
    world.note(`changed: ${changed.join(', ')}; Redis restarted empty`);
    await world.publishedEverywhere();
    const live = await world.live();
    for (const { board, generation } of built)
      if (hashOf(live.get(board) ?? '') !== hashOf(generation))
        throw new Error(`${board} was live as ${generation}, and came back as ${live.get(board)}`);
    await changeBack(world);
  },
};

export const BUILD_FAULTS: readonly Fault[] = [
  rebuild,
  rollBack,
  changeDefinitions,
  killBuilder,
  killAtPromotion,
  twoBuilders,
  frozenBuilder,
  loseWhileBuilding,
  restoreWhileBuilding,
  loseChanged,
];
