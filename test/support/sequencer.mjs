// @ts-check
import { createRequire } from 'node:module';

const { default: TestSequencer } = /** @type {typeof import('@jest/test-sequencer')} */ (
  createRequire(import.meta.url)('@jest/test-sequencer')
);

/**
 * The longest test file, which begins first. Jest sorts by size if it knows no times; if this file
 * began last, the other workers of Jest would idle while it runs.
 */
const LONGEST = /\/test\/faults\/faults\.test\.ts$/;
/**
 * Files that take a moment each. They begin last, and keep workers busy while the last long files
 * run.
 */
const SHORT = /\.spec\.ts$/;

export default class Sequencer extends TestSequencer {
  /**
   * @override
   * @param {Parameters<InstanceType<typeof TestSequencer>['sort']>[0]} tests
   */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const place = (/** @type {{ path: string }} */ { path }) =>
      Number(!LONGEST.test(path)) + Number(SHORT.test(path));
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
