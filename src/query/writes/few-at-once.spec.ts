import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ScoreEvent } from '#contracts';
import { fewAtOnce } from './few-at-once.js';

const event: ScoreEvent = { board: 'arena', playerId: 'ada', delta: '1' };

describe('the places of events', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  function blockedReader() {
    const running: (() => void)[] = [];
    const reader = fewAtOnce({
      board: () => Promise.reject(new Error('not asked')),
      placesOfEvent: () => new Promise((resolve) => running.push(() => resolve([]))),
    });
    const release = () => running.splice(0).forEach((end) => end());
    return { reader, running, release };
  }

  it('are read for 100 events at once; the others wait for their turn', async () => {
    // A busy machine can take longer than a read waits
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const { reader, running, release } = blockedReader();
    let answered = 0;
    const reads = Array.from({ length: 250 }, async () => {
      await reader.placesOfEvent(event, 0);
      answered += 1;
    });
    for (const [round, size] of [100, 100, 50].entries()) {
      await new Promise(setImmediate);
      expect([answered, running.length]).toEqual([round * 100, size]);
      release();
    }
    await Promise.all(reads);
  });

  it('are not read once their event was answered without them', async () => {
    const { reader, running, release } = blockedReader();
    const first = Array.from({ length: 100 }, () => reader.placesOfEvent(event, 0));
    const late = reader.placesOfEvent(event, 0);
    await new Promise(setImmediate);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now + 1_100);
    release();
    await Promise.all(first);
    await expect(late).rejects.toThrow('the places of too many events are being read');
    expect(running).toEqual([]);
  });
});
