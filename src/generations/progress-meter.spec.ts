import { describe, expect, it } from '@jest/globals';
import { phaseOf, ProgressMeter } from './progress-meter.js';

describe('the progress of a run', () => {
  const meterAt = (clock: { ms: number }) => new ProgressMeter(() => clock.ms);

  it('has no rate and no time left before a second has passed', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    expect(meter.note({ done: 0, total: 100 })).toEqual({
      done: 0,
      total: 100,
      rate: 0,
      secondsLeft: null,
    });
    clock.ms = 900;
    expect(meter.note({ done: 50, total: 100 })).toMatchObject({ rate: 0, secondsLeft: null });
    clock.ms = 1_000;
    expect(meter.note({ done: 50, total: 100 })).toMatchObject({ rate: 50, secondsLeft: 1 });
  });

  it('is at the rate of the last seconds, not of the whole run', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    let done = 0;
    for (; clock.ms <= 60_000; clock.ms += 500)
      meter.note({ done: (done += 500), total: 1_000_000 });
    for (; clock.ms <= 70_000; clock.ms += 500)
      meter.note({ done: (done += 50), total: 1_000_000 });
    expect(meter.note({ done: done, total: 1_000_000 }).rate).toBeLessThanOrEqual(100);
  });

  it('does not count what was done before the first look', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    meter.note({ done: 1_000_000, total: 2_000_000 });
    clock.ms = 1_000;
    expect(meter.note({ done: 1_001_000, total: 2_000_000 })).toMatchObject({
      rate: 1_000,
      secondsLeft: 999,
    });
  });

  it('takes the growth of the log into account, and has no end where that is as fast', () => {
    const clock = { ms: 0 };
    const growing = meterAt(clock);
    const outrun = meterAt(clock);
    growing.note({ done: 0, total: 1_000 });
    outrun.note({ done: 0, total: 1_000 });
    clock.ms = 1_000;
    expect(growing.note({ done: 200, total: 1_100 })).toMatchObject({ rate: 200, secondsLeft: 9 });
    expect(outrun.note({ done: 200, total: 1_200 })).toMatchObject({
      rate: 200,
      secondsLeft: null,
    });
  });

  it('has players to put in order behind the log: their time is told before they are begun', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    const ahead = (total: number) => ({ done: 0, total, isBegun: false });
    meter.note({ done: 0, total: 1_000, ordering: ahead(0) });
    clock.ms = 1_000;
    const reading = meter.note({ done: 500, total: 1_000, ordering: ahead(2_000) });
    expect(reading).toEqual({ done: 500, total: 1_000, rate: 500, secondsLeft: 5 });
    clock.ms = 2_000;
    const read = meter.note({ done: 1_000, total: 1_000, ordering: ahead(2_000) });
    expect(read).toEqual({ done: 1_000, total: 1_000, rate: 500, secondsLeft: 4 });
  });

  it('tells the players that are in order, at a rate of their own, while the log grows', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    const players = (done: number) => ({ done, total: 4_000, isBegun: true });
    meter.note({ done: 900, total: 1_000, ordering: players(0) });
    clock.ms = 2_000;
    expect(meter.note({ done: 900, total: 1_200, ordering: players(1_000) })).toEqual({
      ...{ done: 900, total: 1_200, rate: 0 },
      ordering: { done: 1_000, total: 4_000, rate: 500 },
      secondsLeft: 9, // 3,300 at 400 a second, as the log grows by 100
    });
  });

  it('is not at its end while players are to be put in order, known or not', () => {
    const meter = meterAt({ ms: 0 });
    const left = (total: number) =>
      meter.note({ done: 9, total: 9, ordering: { done: 0, total, isBegun: false } }).secondsLeft;
    expect([left(0), left(3)]).toEqual([null, null]);
    const ordering = { done: 3, total: 3, isBegun: true };
    expect(meter.note({ done: 9, total: 9, ordering }).secondsLeft).toBe(0);
  });

  it('has a second left where it is less', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    meter.note({ done: 0, total: 1_000 });
    clock.ms = 1_000;
    expect(meter.note({ done: 999, total: 1_000 }).secondsLeft).toBe(1);
  });

  it('is at its end when nothing is left', () => {
    expect(meterAt({ ms: 0 }).note({ done: 0, total: 0 }).secondsLeft).toBe(0);
  });
});

describe('the phase of a run', () => {
  const records = { done: 90, total: 100, rate: 7 };
  const told = { ...records, unit: 'records' };

  it('is that of records, until players are put in order, and behind that: the log grows', () => {
    expect(phaseOf(records)).toEqual(told);
    expect(phaseOf({ ...records, ordering: { done: 1, total: 4, rate: 2 } })).toEqual({
      ...{ done: 1, total: 4, rate: 2 },
      unit: 'players in order',
    });
    expect(phaseOf({ ...records, ordering: { done: 4, total: 4, rate: 2 } })).toEqual(told);
  });
});
