import { shardOf } from '#board-store';
import { eventually } from '../../support/eventually.js';
import { BOARD_NAMES, type BoardName } from '../boards.js';
import { below, type Random } from '../random.js';
import type { RanklogCommand } from '../world/ranklog-command.js';
import { sum, type World } from '../world/world.js';

/** A build of boards: as they are, or with other definitions. */
export interface BuildRequest {
  readonly boards: readonly BoardName[];
  /** Boards that the boards file of the command changes. */
  readonly changed: readonly BoardName[];
  readonly args: readonly string[];
}

/**
 * About how long a throttled build takes, however long the log is; fewer than 900 records take
 * less.
 */
const SECONDS = 6;
/** More than the load sends, so that the build ends under load. */
const MIN_RECORDS_PER_SECOND = 150;
/**
 * A throttled build reads its first records without waiting, so a shorter log leaves no time to
 * disturb the build.
 */
const MIN_RECORDS = 3 * MIN_RECORDS_PER_SECOND;

/** At least one board, in random order. */
export function someBoards(random: Random): BoardName[] {
  const drawn = BOARD_NAMES.map((board) => ({ board, place: random() }));
  drawn.sort((a, b) => a.place - b.place);
  return drawn.slice(0, 1 + below(random, drawn.length)).map(({ board }) => board);
}

export function rebuildOf(boards: readonly BoardName[]): BuildRequest {
  return { boards, changed: [], args: ['rebuild', ...boards, '--json'] };
}

export function applyOf(boards: readonly BoardName[]): BuildRequest {
  return { boards, changed: boards, args: ['apply', '--yes', '--allow-left-out', '--json'] };
}

/**
 * The build is disturbed as soon as a random share of it is done; this is the largest such share.
 */
const MAX_DONE = 0.6;
/**
 * At most how many times a rebuild is started: one that ends before it was seen in progress is
 * started again, more slowly.
 */
const MAX_TRIES = 3;

/** Starts a throttled build, and waits until a random part of it is done. */
export async function beginBuild(
  world: World,
  random: Random,
  { seconds = SECONDS, ...request }: BuildRequest & { readonly seconds?: number },
): Promise<RanklogCommand> {
  const { args, boards, changed } = request;
  const share = random() * MAX_DONE;
  await eventually(
    async () => sum(await world.logEnds()) >= MIN_RECORDS,
    'the log is long enough for a build',
  );
  const tries = changed.length === 0 ? MAX_TRIES : 1; // a second apply has nothing to do
  for (let attempt = 0; ; attempt++) {
    const rate = Math.ceil(sum(await world.logEnds()) / (seconds * 2 ** attempt));
    const throttle = String(Math.max(MIN_RECORDS_PER_SECOND, rate));
    const build = await world.boards([...args, '--throttle', throttle], changed);
    const isAtShare = async () => build.hasEnded || (await shareDone(world, boards[0])) >= share;
    await eventually(isAtShare, `a build of ${boards[0]} is in progress`);
    if (!build.hasEnded) return build;
    if (attempt + 1 === tries || (await build.exitCode()) !== 0)
      throw new Error(`the build ended before it was seen in progress: ${build.log}`);
  }
}

/** The share of the log that the shadow of a board has applied; -1 while there is none. */
async function shareDone(world: World, board = ''): Promise<number> {
  const shadow = await world.generations.shadow(board);
  if (shadow === undefined) return -1;
  const done = await world.generations.shadowAppliedOffsets(shadow);
  const ends = await world.logEnds();
  return (sum(done) + done.size) / Math.max(1, sum(ends));
}

/** What `boards rebuild --json` and `boards apply --json` print. */
interface Built {
  readonly built: readonly {
    readonly board: string;
    readonly generation: string;
    readonly previous: string | null;
  }[];
}

/**
 * At most how many times a build is started. It is started again if it gave up waiting for Redis,
 * as can happen on a busy machine.
 */
const MAX_STARTS = 4;

/**
 * Waits until a build has succeeded, and checks that its generations are live. @throws otherwise
 */
export async function succeeds(world: World, build: RanklogCommand): Promise<Built['built']> {
  let last = build;
  for (let starts = 1; starts < MAX_STARTS; starts++) {
    const isToRetry = (await last.exitCode()) === 3 && last.log.includes('try again later');
    if (!isToRetry) break;
    last = world.repeat(last);
  }
  const { built } = JSON.parse(await last.output()) as Built;
  const live = await world.live();
  for (const { board, generation } of built)
    if (live.get(board) !== generation)
      throw new Error(`${board} has the live generation ${live.get(board)}, not ${generation}`);
  world.count('builds', built.length);
  return built;
}

/**
 * Runs the same build again without throttle, and checks that it continues the shadows that are
 * left.
 * @throws otherwise
 */
export async function continues(
  world: World,
  { boards, changed, args }: BuildRequest,
): Promise<void> {
  const shadows = await Promise.all(boards.map((board) => world.generations.shadow(board)));
  const left = shadows.flatMap((shadow) => shadow ?? []);
  const built = await succeeds(world, await world.boards(args, changed));
  for (const { board, generation } of left) {
    const found = built.find((one) => one.board === board)?.generation;
    if (found !== generation)
      throw new Error(`${board} was built as ${found}, which does not continue ${generation}`);
  }
  world.count('builds continued', left.length);
}

/**
 * Expires the leases on these boards of a killed or paused builder, so that the next one need not
 * wait.
 */
export async function expireLeases(
  { redis: { redis }, keys, shards }: World,
  boards: readonly string[],
): Promise<void> {
  for (const board of boards) {
    const key = keys.lease(shardOf(board, shards), board);
    await redis.pexpire(key, 1);
    await eventually(
      async () => (await redis.exists(key)) === 0,
      `the lease of ${board} has expired`,
    );
  }
}
