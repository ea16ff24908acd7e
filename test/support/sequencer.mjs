// @ts-check
import { createRequire } from 'node:module';

const { default: TestSequencer } = /** @type {typeof import('@jest/test-sequencer')} */ (
  createRequire(import.meta.url)('@jest/test-sequencer')
);

/** Takes longer than all others: begun last, it would leave one worker alone. Jest goes by size where it knows no times. */
const LONGEST = /\/test\/faults\/faults\.test\.ts$/;

export default class Sequencer extends TestSequencer {
  /**
   * @override
   * @param {Parameters<InstanceType<typeof TestSequencer>['sort']>[0]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isLongest = (/** @type {{ path: string }} */ { path }) => LONGEST.test(path);
    return [...sorted.filter(isLongest), ...sorted.filter((test) => !isLongest(test))];
  }
}
