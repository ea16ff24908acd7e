import { existsSync, readFileSync } from 'node:fs';
import { RanklogError } from '#errors';

/** Servers can't be started or found. The message says what to do. */
export class ServersError extends RanklogError {}

/** The last 30 lines of a log and where it is. */
export function logTail(file: string): string {
  if (!existsSync(file)) return `there is no log ${file}`;
  return `last lines of ${file}:\n${lastLines(readFileSync(file, 'utf8'))}`;
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-30).join('\n');
}
