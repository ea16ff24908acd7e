// @ts-check
import { existsSync } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The program of RANKLOG_CHROMIUM, else the first of Chromium's names on the PATH. @returns
 * {string}
 * @throws Error without one
 */
export function chromiumPath() {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const places = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = process.env['RANKLOG_CHROMIUM'] ?? places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new Error(
    `no browser: ${NAMES.join(', ')} are not on the PATH; run "apt-get install chromium", or ` +
      'set RANKLOG_CHROMIUM to a program',
  );
}
