import { execFileSync } from 'node:child_process';

const BYTES_OF_A_UNIT = 1_024;

/** Memory of a process that is resident, in MB. */
export function residentMegabytes(pid: number): number {
  const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return (Number(text) * BYTES_OF_A_UNIT) / 1e6;
}
