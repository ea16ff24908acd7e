import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { BoardReader, type ApplyCall, type Boards, type PlayerEntry } from '#board-store';
import { RanklogError } from '#errors';
import { readRecord } from '../../src/ingest/read-record.js';
import { settlingCalls } from '../../src/ingest/split-calls.js';
import { StoreFixture, verdictsOf } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { cursorArbitrary } from './cursors.js';
import { checkInputs, DEFINITIONS, FUZZ_TIMEOUT } from './inputs.js';
import { recordArbitrary } from './records.js';

/** A user to whom Redis refuses all other keys. */
const user = `fuzz-${randomUUID().slice(0, 8)}`;
const all = openTestRedis();
const keys = all.newKeys();

let redis: Redis;
let fixture: StoreFixture;
let boards: Boards;

beforeAll(async () => {
  await all.redis.acl('SETUSER', user, 'on', `>${user}`, `~${keys.prefix}:*`, '+@all');
  const { host = '', port = 0 } = all.redis.options;
  redis = new Redis({ host, port, username: user, password: user });
  const [first, ...others] = DEFINITIONS.values();
  fixture = await new StoreFixture(redis, keys).register(first!);
  await fixture.store.registerBoards(others);
  await fixture.refresh();
  boards = await fixture.store.boards();
});
afterAll(async () => {
  redis.disconnect();
  await all.redis.acl('DELUSER', user);
  await all.close();
});

async function settle(call: ApplyCall, entry: PlayerEntry): Promise<void> {
  const live = boards.live.get(entry.board)!;
  const views = await fixture.store.viewsOfPlayers(live, [entry.playerId]);
  for (const step of settlingCalls([entry], views, live.definition))
    verdictsOf(await fixture.store.apply({ ...call, ...step }));
}

describe('Redis, which refuses keys that are not of ranklog,', () => {
  it(
    'takes every record: as an event, or as a dead letter',
    async () => {
      let offset = 0;
      const property = fc.asyncProperty(recordArbitrary, async (record) => {
        const { entry } = readRecord({ ...record, offset }, 0, boards);
        const entries = entry.kind === 'none' ? [] : [entry];
        const place = { from: offset, through: offset, published: offset, boards: boards.live };
        const call = fixture.call([], { ...place, entries });
        verdictsOf(await fixture.store.apply(call));
        if (entry.kind === 'player') await settle(call, entry);
        offset += 1;
      });
      await checkInputs(property, { usual: 1_000, share: 0.7 });
    },
    FUZZ_TIMEOUT,
  );

  it(
    'answers any cursor with a page, or the reader refuses it',
    async () => {
      const reader = new BoardReader({ redis, prefix: keys.prefix });
      const inputs = [...DEFINITIONS].map(([board, definition]) =>
        fc.tuple(fc.constant(board), cursorArbitrary(definition)),
      );
      const property = fc.asyncProperty(fc.oneof(...inputs), async ([board, after]) => {
        await reader.standings(board, { after, limit: 10 }).catch((error: unknown) => {
          if (!(error instanceof RanklogError)) throw error;
        });
      });
      await checkInputs(property, { usual: 1_000, share: 0.3 });
    },
    FUZZ_TIMEOUT,
  );
});
