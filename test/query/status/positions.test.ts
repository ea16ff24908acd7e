import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { PublishedPositions } from '../../../src/ingest/published-positions.js';
import { readPositions } from '../../../src/query/status/read-status.js';
import { TestInstance } from '../../support/instance.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const EVENT = JSON.stringify({ board: 'arena', playerId: 'a', delta: 1 });

let instance: TestInstance;
beforeEach(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: 1 });
});
afterEach(() => instance.remove());

it('names no log end before the last record if the log grows meanwhile', async () => {
  await instance.produce([EVENT]);
  const positions = {
    stored: () => Promise.resolve(new Map([[0, 0]])),
    // This is asked after the end of the log.
    of: async () => {
      await instance.produce([EVENT, EVENT]);
      return 2;
    },
  };
  const found = await readPositions(instance, positions as unknown as PublishedPositions);
  expect(found).toMatchObject([{ logEnd: 3, committedEnd: 3, published: 2, lag: 1 }]);
});
