import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { RecurringTask } from './recurring-task.js';

const EVERY_MS = 21.5;
const tasks: RecurringTask[] = [];
afterEach(() => Promise.all(tasks.splice(0).map((task) => task.stop())));

/** Starts a task, and returns the times of its turns. */
function turnsOf(work: () => Promise<void> | void = () => undefined, everyMs = EVERY_MS) {
  const turns: number[] = [];
  const task = new RecurringTask(() => {
    turns.push(performance.now());
    return work();
  }, everyMs);
  task.start();
  tasks.push(task);
  return turns;
}

it('begins one turn in each interval, and none after the stop', async () => {
  // Wake the loop at other times, so that timers fire early
  const others = setInterval(() => undefined, 3);
  const begun = performance.now();
  const turns = turnsOf();
  await eventually(() => turns.length >= 200, 'there are many turns');
  clearInterval(others);
  await Promise.all(tasks.map((task) => task.stop()));
  const [ended, count] = [performance.now(), turns.length];
  expect(count).toBeLessThanOrEqual((ended - begun) / EVERY_MS + 1);
  await eventually(() => performance.now() > ended + 3 * EVERY_MS, 'some intervals have passed');
  expect(turns.length).toBe(count);
});

it('begins the turns of tasks together that were started at different times', async () => {
  const everyMs = 500;
  const begun = performance.now();
  const first = turnsOf(undefined, everyMs);
  await eventually(
    () => performance.now() > begun + everyMs / 3,
    'a third of an interval has passed',
  );
  const second = turnsOf(undefined, everyMs);
  await eventually(() => first.length > 0 && second.length > 0, 'both have begun a turn');
  const intervals = (second[0]! - first[0]!) / everyMs;
  expect(Math.abs(intervals - Math.round(intervals))).toBeLessThan(0.2);
});

it('leaves out turns while the last one is under way', async () => {
  let end = () => {};
  const turns = turnsOf(() => new Promise((resolve) => (end = resolve)));
  await eventually(() => turns.length === 1, 'the first turn begins');
  const [begun = 0] = turns;
  await eventually(() => performance.now() > begun + 3 * EVERY_MS, 'some intervals have passed');
  expect(turns).toHaveLength(1);
  end();
  await eventually(() => turns.length === 2, 'the next turn begins');
  end();
});
