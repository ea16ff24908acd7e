import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent, ResolvedView } from '#board';
import { BoardStore, ContinuityStore } from '#board-store';
import { splitRuns } from '../../src/ingest/split-calls.js';
import { RedisServer } from '../support/redis-server.js';
import { arena, lasting, scored, StoreFixture, verdictsOf } from './fixture.js';
import { interceptedClient } from './test-redis.js';

/** Events of a batch, from which ingest takes the calls. */
const BATCH = 500;
const ROUNDS = 6;

let own: RedisServer;
beforeAll(async () => {
  own = await RedisServer.start();
});
afterAll(() => own.remove());

/**
 * CPU time, in µs, of the thread that runs commands. The time that other processes take is not part
 * of it.
 */
async function redisCpu(): Promise<number> {
  const info = await own.redis.info('cpu');
  const parts = [...info.matchAll(/used_cpu_(?:user|sys)_main_thread:([\d.]+)/g)];
  return parts.reduce((sum, [, seconds]) => sum + Number(seconds) * 1e6, 0);
}

/** A board of tied players, and the events that are applied to it. */
interface Load {
  readonly fields?: Partial<BoardDefinition>;
  readonly viewsAt: (offset: number) => readonly ResolvedView[];
  readonly players: number;
  /** A player has another state in each view. */
  readonly differs?: boolean;
  readonly isMuted?: boolean;
}

/** The same list of views for each event: in ingest, most events share their list. */
function views(count: number): Load['viewsAt'] {
  const list = lasting(...Array.from({ length: count }, (_, index) => `v${index}`));
  return () => list;
}

class LoadedBoard {
  #offset = 0;

  private constructor(
    private readonly fixture: StoreFixture,
    private readonly load: Load,
  ) {}

  static async fill(load: Load): Promise<LoadedBoard> {
    const { fields, viewsAt, players, differs = false } = load;
    const fixture = await new StoreFixture(own.redis, own.newKeys()).register({
      ...arena,
      ...fields,
    });
    const board = new LoadedBoard(fixture, load);
    const lists = differs ? viewsAt(0).map((view) => [view]) : [viewsAt(0)];
    for (const [index, list] of lists.entries())
      for (let from = 0; from < players; from += BATCH) {
        const count = Math.min(BATCH, players - from);
        const points = index + 1;
        const events = Array.from({ length: count }, (_, i) =>
          board.#event(from + i, points, list),
        );
        await board.#apply(events, true);
      }
    return board;
  }

  /** The CPU time of one call with so many events. */
  async timeOf(count: number): Promise<number> {
    const before = await redisCpu();
    await this.#apply(this.#next(count), this.load.isMuted ?? false);
    return (await redisCpu()) - before;
  }

  /** How many events of a batch ingest puts into one call. */
  eventsOfACall(): number {
    const { live } = this.fixture;
    const from = this.#offset;
    const entries = this.fixture.call(this.#next(BATCH), { from }).entries;
    const nextOffset = from + BATCH;
    const published = this.load.isMuted ? nextOffset : from;
    const boards = new Map([[live.board, live]]);
    const items = entries.map((entry) => ({ entry }));
    const [run] = splitRuns(items, { from, nextOffset, published, boards });
    return run?.items.length ?? 0;
  }

  #next(count: number): ResolvedEvent[] {
    return Array.from({ length: count }, (_, index) => {
      const offset = this.#offset + index;
      return this.#event(offset, 1, this.load.viewsAt(offset));
    });
  }

  /**
   * An event of the next player, who overtakes all players whose turn comes later: equal players
   * are in order of their ids.
   */
  #event(turn: number, points: number, list: readonly ResolvedView[]): ResolvedEvent {
    const { columns } = this.fixture.live.definition;
    const player = 9_999 - (turn % this.load.players);
    return scored(
      `p${player}`,
      columns.map(() => points),
      { views: list },
    );
  }

  async #apply(events: readonly ResolvedEvent[], isMuted: boolean): Promise<void> {
    const from = this.#offset;
    this.#offset += events.length;
    const published = isMuted ? this.#offset : from;
    const call = this.fixture.call(events, { from, published });
    verdictsOf(await this.fixture.store.apply(call));
  }
}

/**
 * Quotient of two CPU times. Measures them in turns and takes the best of each, as other work slows
 * some rounds.
 */
async function ratioOf(
  dividend: () => Promise<number>,
  divisor: () => Promise<number>,
): Promise<number> {
  const dividends: number[] = [];
  const divisors: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    dividends.push(await dividend());
    divisors.push(await divisor());
  }
  return Math.min(...dividends) / Math.min(...divisors);
}

function columns(count: number): BoardDefinition['columns'] {
  return Array.from({ length: count }, (_, index) => ({ ...arena.columns[0]!, name: `c${index}` }));
}

/**
 * The CPU time of the script that ends a resync of a shard with so many boards; with `isOutdated`,
 * it empties the shard.
 */
async function timeOfResync(boards: number, isOutdated: boolean): Promise<number> {
  const keys = own.newKeys();
  const store = new BoardStore(own.redis, keys, { shards: 1 });
  await store.claim();
  await store.registerBoards(
    Array.from({ length: boards }, (_, index) => ({ ...arena, board: `b${index}` })),
  );
  let time = NaN;
  const measured = interceptedClient(own.redis, /^ranklogEndResync$/, async (run) => {
    const before = await redisCpu();
    const reply = await run();
    time = (await redisCpu()) - before;
    return reply;
  });
  const continuity = new ContinuityStore(measured, keys, { shards: 1 });
  const begun = (await continuity.beginResync(0, await continuity.continuity(0)))!;
  const since = isOutdated ? 9_000_000_000_000_000 : 1;
  const recovered = await continuity.endResync(0, begun, new Map(), new Map([['b1', { since }]]));
  expect(recovered?.outdated).toEqual(isOutdated ? ['b1'] : []);
  return time;
}

const NAMES = { ...arena.publish, overtook: 100, leaders: 100 };
const MANY = { viewsAt: views(256), players: 1 };

/**
 * One column and no ranks: split-calls.ts counts the cost of all other calls in updates of such a
 * board.
 */
const PLAINEST: Load = { viewsAt: views(4), players: 4_000, differs: true, isMuted: true };

const WORST: Record<string, Load> = {
  'a tie of 4,000 players in 8 columns': {
    fields: { columns: columns(8) },
    viewsAt: views(4),
    players: 4_000,
  },
  '100 overtaken players and 100 leaders': {
    fields: { columns: columns(2), publish: NAMES },
    viewsAt: views(4),
    players: 4_000,
  },
  'a new view for each event': {
    fields: { columns: columns(8), publish: NAMES, maxViews: 1_000_000 },
    viewsAt: (offset) => lasting(`v${offset}`),
    players: 4_000,
  },
  '256 views with the same state': MANY,
  '256 views with different states': { ...MANY, differs: true },
  '256 views with different states, muted': { ...MANY, differs: true, isMuted: true },
};

it.each(Object.entries(WORST))(
  'a full call takes at most 2.5 times as long as on the plainest board: %s',
  async (_, load) => {
    const plainest = await LoadedBoard.fill(PLAINEST);
    const worst = await LoadedBoard.fill(load);
    const ratio = await ratioOf(
      () => worst.timeOf(worst.eventsOfACall()),
      () => plainest.timeOf(plainest.eventsOfACall()),
    );
    expect(ratio).toBeLessThan(2.5);
  },
);

it('an update of a view takes at most twice as long if its event has 256 views in place of 16', async () => {
  const many = await LoadedBoard.fill({ ...MANY, differs: true, isMuted: true });
  const few = await LoadedBoard.fill({ ...PLAINEST, viewsAt: views(16), players: 1 });
  const ratio = await ratioOf(
    () => many.timeOf(64),
    () => few.timeOf(64 * 16),
  );
  expect(ratio).toBeLessThan(2);
});

it.each([false, true])(
  'the end of a resync takes at most 5 times as long with 5,000 boards in place of 5; it empties the shard: %s',
  async (isOutdated) => {
    const ratio = await ratioOf(
      () => timeOfResync(5_000, isOutdated),
      () => timeOfResync(5, isOutdated),
    );
    expect(ratio).toBeLessThan(5);
  },
);
