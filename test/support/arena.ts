import type { BoardDefinition } from '#board';

/**
 * The plainest board, for specs to vary: one sum of points, no event dated later than its record,
 * all else at its default.
 */
export const arena: BoardDefinition = {
  board: 'arena',
  columns: [{ name: 'points', update: 'sum', order: 'desc', decimals: 0 }],
  ties: 'earliest',
  timeZone: 'UTC',
  windows: [{ kind: 'all' }],
  late: 'deadLetter',
  dimensions: [[]],
  maxViews: 10_000,
  maxAheadMs: 0,
  publish: { rankChanges: 'every', ranks: ['ordinal'], overtook: 0, leaders: 0 },
};
