import type { RunProgress } from '../reconciliation/run-progress.js';
import { ProgressBar } from './progress-bar.js';
import { countText } from './quantities.js';

/** Runs a work on the records of the log that tells how far it is, and shows that: see ProgressBar. */
export async function showProgress<T>(
  work: (onProgress: (progress: RunProgress) => void) => Promise<T>,
): Promise<T> {
  let bar: ProgressBar | undefined;
  try {
    return await work(({ done, compared, ...facts }) => {
      bar ??= new ProgressBar('records', Math.max(1, facts.total));
      const note = compared === undefined ? '' : `, ${countText(compared)} players compared`;
      bar.update(done, { ...facts, note });
    });
  } finally {
    bar?.stop();
  }
}
