import { shardOf } from '#board-store';
import { eventually } from '../../support/eventually.js';
import { BOARD_NAMES, type BoardName } from '../boards.js';
import { below, type Random } from '../load.js';
import type { BoardsCommand } from '../world/boards-command.js';
import { sum, type World } from '../world/world.js';

/** A build to be done: of the boards as they are, or with other definitions. */
export interface BuildWish {
  readonly boards: readonly BoardName[];
  /** Boards that its boards file changes. */
  readonly changed: readonly BoardName[];
  readonly args: readonly string[];
}

/** A throttled build takes about so many seconds, whatever the length of the log. */
const SECONDS = 6;
/** More than the load sends, so that it ends under load. */
const LEAST_A_SECOND = 150;
/** A second's worth goes at once: with fewer records in the log there is no time to do something to a build. */
const FEWEST_RECORDS = 3 * LEAST_A_SECOND;

/** At least one board, in random order. */
export function someBoards(random: Random): BoardName[] {
  const drawn = BOARD_NAMES.map((board) => ({ board, place: random() }));
  drawn.sort((a, b) => a.place - b.place);
  return drawn.slice(0, 1 + below(random, drawn.length)).map(({ board }) => board);
}

export function rebuildOf(boards: readonly BoardName[]): BuildWish {
  return { boards, changed: [], args: ['rebuild', ...boards, '--json'] };
}

export function applyOf(boards: readonly BoardName[]): BuildWish {
  return { boards, changed: boards, args: ['apply', '--yes', '--json'] };
}

const MOST_DONE = 0.6;
/** A rebuild that was over before it was seen under way is begun anew so often. */
const TRIES = 3;

/** Starts a build that takes a while, and waits until a random part of it is done. */
export async function beginBuild(
  world: World,
  random: Random,
  { seconds = SECONDS, ...wish }: BuildWish & { readonly seconds?: number },
): Promise<BoardsCommand> {
  const share = random() * MOST_DONE;
  await eventually(
    async () => sum(await world.logEnds()) >= FEWEST_RECORDS,
    'the log is long enough for a build',
  );
  let build = await startBuild(world, wish, seconds);
  const again = wish.changed.length === 0 ? TRIES - 1 : 0; // what was applied once is not applied again
  for (let time = 1; !(await comesTo(world, build, { wish, share })); time++) {
    if (time > again || (await build.exitCode()) !== 0)
      throw new Error(`the build ended too early: ${build.words}`);
    build = await startBuild(world, wish, seconds * 2 ** time);
  }
  return build;
}

async function startBuild(
  world: World,
  { args, changed }: BuildWish,
  seconds: number,
): Promise<BoardsCommand> {
  const throttle = Math.max(LEAST_A_SECOND, Math.ceil(sum(await world.logEnds()) / seconds));
  return world.boards([...args, '--throttle', String(throttle)], changed);
}

/** Waits until so much of a build is done; false when it is over instead. */
async function comesTo(
  world: World,
  build: BoardsCommand,
  { wish, share }: { readonly wish: BuildWish; readonly share: number },
): Promise<boolean> {
  const [board = ''] = wish.boards;
  await eventually(
    async () => build.hasEnded || (await shareDone(world, board)) >= share,
    `a build of ${board} is under way`,
  );
  return !build.hasEnded;
}

/** How much of the log a build has come through; -1 where it has not begun. */
async function shareDone(world: World, board: string): Promise<number> {
  const shadow = await world.generations.shadow(board);
  if (shadow === undefined) return -1;
  const done = await world.generations.shadowAppliedOffsets(shadow);
  const ends = await world.logEnds();
  return (sum(done) + done.size) / Math.max(1, sum(ends));
}

/** Generations that somebody is building, or has left behind, by board. */
export async function unfinished(
  world: World,
  boards: readonly BoardName[],
): Promise<Map<string, string>> {
  const shadows = await Promise.all(boards.map((board) => world.generations.shadow(board)));
  return new Map(
    shadows.flatMap((shadow) => (shadow ? [[shadow.board, shadow.generation] as const] : [])),
  );
}

/** What `boards rebuild --json` and `boards apply --json` print. */
interface Built {
  readonly built: readonly {
    readonly board: string;
    readonly generation: string;
    readonly previous: string | null;
  }[];
}

/** So often a build is started that Redis keeps waiting for longer than a command may take, as on a busy machine. */
const MOST_STARTS = 4;

/** Waits until a build has succeeded, and what it built is live; answers that. @throws otherwise */
export async function succeeds(world: World, build: BoardsCommand): Promise<Built['built']> {
  let last = build;
  for (let starts = 1; starts < MOST_STARTS && (await isToTryAgain(last)); starts++)
    last = world.boardsAgain(last);
  const { built } = JSON.parse(await last.output()) as Built;
  const live = await world.live();
  for (const { board, generation } of built)
    if (live.get(board) !== generation)
      throw new Error(`${board} is live as ${live.get(board)}, and not as ${generation}`);
  world.count('builds', built.length);
  return built;
}

async function isToTryAgain(build: BoardsCommand): Promise<boolean> {
  return (await build.exitCode()) === 3 && build.words.includes('try again later');
}

/** Does the same again, unhurried, and sees that it goes on with what was left. @throws otherwise */
export async function goesOn(world: World, { boards, changed, args }: BuildWish): Promise<void> {
  const left = await unfinished(world, boards);
  const build = await world.boards(args, changed);
  const built = await succeeds(world, build);
  for (const [board, generation] of left) {
    const found = built.find((one) => one.board === board)?.generation;
    if (found !== generation)
      throw new Error(`${board} was built as ${found}, and does not go on with ${generation}`);
  }
  world.count('builds gone on with', left.size);
}

/** The lease of one that was killed or stopped runs out at once: who goes on need not wait for that. */
export async function letLeaseRunOut(
  { redis: { redis }, keys, shards }: World,
  board: BoardName,
): Promise<void> {
  const key = keys.lease(shardOf(board, shards), board);
  await redis.pexpire(key, 1);
  await eventually(async () => (await redis.exists(key)) === 0, `the lease of ${board} runs out`);
}
