import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '../infra/logger.js';
import { Metrics } from '../infra/metrics.js';
import { DeadLetterReport } from './dead-letter-report.js';

const letter = (reason: string, board = '') => ({ reason, board, id: 'x/0/1', detail: 'why' });

describe('the report of dead letters', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('counts all, and logs a reason at once, then every ten seconds with the number since', async () => {
    const lines: unknown[] = [];
    const warn = (_: string, facts?: object) => {
      const { reason, count } = facts as { reason: string; count: number };
      lines.push(`${count} ${reason}`);
    };
    const metrics = new Metrics();
    const report = new DeadLetterReport(metrics, { warn } as Logger);
    for (let sent = 0; sent < 3; sent++) report.published(letter('NOT_JSON'));
    report.published(letter('TOO_FAR_AHEAD', 'arena'));
    expect(lines).toEqual(['1 NOT_JSON', '1 TOO_FAR_AHEAD']);
    jest.advanceTimersByTime(10_000);
    expect(lines.splice(0)).toEqual(['1 NOT_JSON', '1 TOO_FAR_AHEAD', '2 NOT_JSON']);
    report.published(letter('TOO_FAR_AHEAD', 'arena'));
    report.published(letter('NOT_JSON'));
    expect(lines.splice(0)).toEqual(['1 TOO_FAR_AHEAD']);
    jest.advanceTimersByTime(60_000);
    expect(lines).toEqual(['1 NOT_JSON']);
    const { values } = await metrics.counters.ranklog_dead_letters_total.get();
    expect(values.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      { reason: 'NOT_JSON', board: '', value: 4 },
      { reason: 'TOO_FAR_AHEAD', board: 'arena', value: 2 },
    ]);
  });
});
