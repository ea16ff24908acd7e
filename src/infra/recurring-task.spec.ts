import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { RecurringTask } from './recurring-task.js';

const EVERY_MS = 21.5;
const tasks: RecurringTask[] = [];
afterEach(() => Promise.all(tasks.splice(0).map((task) => task.stop())));

/** Starts a task, and returns the times of its turns. */
function turnsOf(work: () => Promise<void> = () => Promise.resolve()): number[] {
  const turns: number[] = [];
  const task = new RecurringTask(() => {
    turns.push(performance.now());
    return work();
  }, EVERY_MS);
  task.start();
  tasks.push(task);
  return turns;
}

it('begins one turn in each interval, those of all tasks together, and none after the stop', async () => {
  const others = setInterval(() => undefined, 3); // wake the loop at other times, so that timers fire early
  const begun = performance.now();
  const first = turnsOf();
  await eventually(() => performance.now() % EVERY_MS > EVERY_MS / 3, 'some time has passed');
  const second = turnsOf();
  await eventually(() => second.length >= 200, 'there are many turns');
  clearInterval(others);
  await Promise.all(tasks.map((task) => task.stop()));
  const [ended, count] = [performance.now(), second.length];
  expect(first.length).toBeLessThanOrEqual((ended - begun) / EVERY_MS + 1);
  const together = second.filter((time) => first.some((other) => Math.abs(time - other) < 1));
  expect(together.length).toBeGreaterThan(100); // fewer on a busy machine than on an idle one
  await eventually(() => performance.now() > ended + 3 * EVERY_MS, 'some intervals have passed');
  expect(second.length).toBe(count);
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
