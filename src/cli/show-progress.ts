import { phaseOf } from '../reconciliation/phase.js';
import type { RunProgress } from '../reconciliation/run-progress.js';
import { ProgressBar } from './progress-bar.js';
import { countText } from './quantities.js';

/** Runs a work on the records of the log that tells how far it is, and shows that: see ProgressBar. */
export async function showProgress<T>(
  work: (onProgress: (progress: RunProgress) => void) => Promise<T>,
): Promise<T> {
  let bar: ProgressBar | undefined;
  try {
    return await work((progress) => {
      const { compared, secondsLeft } = progress;
      const { done, total, rate, unit } = phaseOf(progress);
      bar ??= new ProgressBar('records', Math.max(1, total));
      const what = unit === 'records' ? unit : `of ${countText(total)} ${unit}`;
      const note = compared === undefined ? '' : `, ${countText(compared)} players compared`;
      bar.update(done, { total, rate, secondsLeft, what, note });
    });
  } finally {
    bar?.stop();
  }
}
