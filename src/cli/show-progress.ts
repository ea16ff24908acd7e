import type { RunProgress } from '../generations/progress.js';
import { Outrun } from './outrun.js';
import { ProgressBar, type ProgressBarOptions } from './progress-bar.js';
import { countText } from './quantities.js';

/**
 * Runs a work on the records of the log that tells how far it is, and shows that: see ProgressBar. Once the log has grown for a
 * while as fast as it is read, that is said.
 */
export async function showProgress<T>(
  work: (onProgress: (progress: RunProgress) => void) => Promise<T>,
  options: ProgressBarOptions = {},
): Promise<T> {
  let bar: ProgressBar | undefined;
  const { now = () => performance.now() } = options;
  const outrun = new Outrun(now);
  try {
    return await work((progress) => {
      const { done, total, rate, secondsLeft, compared } = progress;
      bar ??= new ProgressBar('records', Math.max(1, total), options);
      const note = compared === undefined ? '' : `, ${countText(compared)} places compared`;
      bar.update(done, { total, rate, secondsLeft, note });
      if (outrun.note(progress)) bar.say(outrunText(progress));
    });
  } finally {
    bar?.stop();
  }
}

function outrunText({ done, total }: RunProgress): string {
  return (
    `ranklog: live events come as fast as the log is read, or faster: ${countText(total - done)} records are left, and it comes no ` +
    'nearer to its end; a higher --throttle, or less traffic, lets it end'
  );
}
