import { describe, expect, it } from '@jest/globals';
import { Differences } from './verify.js';

const player = (view: string, playerId: string) => ({ view, kind: 'columns' as const, playerId });

describe('differences', () => {
  it('are all counted, and the first ones kept', () => {
    const found = new Differences(2);
    found.add([player('all', 'a'), player('all', 'b'), player('all', 'c'), player('day', 'd')]);
    expect(found.count).toBe(4);
    expect(found.kept.map(({ playerId }) => playerId)).toEqual(['a', 'b']);
  });

  it('that are found twice count once', () => {
    const found = new Differences(10);
    found.add([player('all', 'a'), { view: 'day', kind: 'view' }]);
    found.add([player('all', 'a'), { view: 'day', kind: 'view' }]);
    expect(found.count).toBe(2);
  });

  it('of several partitions count once per partition, and are kept as they were last found', () => {
    const found = new Differences(10);
    const ofPartition = (partition: number, ids: string) =>
      ({ view: '', kind: 'eventIds', partition, found: ids }) as const;
    found.add([ofPartition(0, '3 ids'), ofPartition(1, '4 ids')]);
    found.add([ofPartition(0, '5 ids')]);
    expect(found.count).toBe(2);
    expect(found.kept).toEqual([ofPartition(0, '5 ids'), ofPartition(1, '4 ids')]);
  });
});
