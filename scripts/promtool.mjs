// @ts-check
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { unpackedPackages } from './debian.mjs';

/**
 * promtool of the PATH, else that of Debian's package prometheus.
 * @returns {Promise<string | undefined>} undefined where apt can't fetch the package without root
 */
export async function promtool() {
  if (spawnSync('promtool', ['--version']).status === 0) return 'promtool';
  const folder = await unpackedPackages('promtool', ['prometheus']);
  return folder && path.join(folder, 'usr', 'bin', 'promtool');
}
