// @ts-check
import { parentOf, processStart } from './process-start.mjs';

// Shorter than the time within which two signals count as one request.
const POLL_MS = 500;

/**
 * Calls `onEnd` once when the npm or npx that started this process has ended. A killed npm passes
 * no signal on. npm puts a shell in between, so the parent of the parent is watched, too. Does
 * nothing if npm did not start this process.
 * @param {() => void} onEnd
 * @returns {() => void} stops watching
 */
export function watchLauncher(onEnd) {
  if (process.env['npm_lifecycle_event'] === undefined) return () => undefined;
  // If the parent ended earlier, this process is a child of process 1, and is meant to run on.
  const pids = [process.ppid, parentOf(process.ppid)].filter((pid) => pid > 1);
  const launchers = pids.map((pid) => ({ pid, start: processStart(pid) }));
  const timer = setInterval(() => {
    if (launchers.every(({ pid, start }) => processStart(pid) === start)) return;
    clearInterval(timer);
    onEnd();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
