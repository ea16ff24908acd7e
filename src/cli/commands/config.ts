import { loadSettings } from '../../config/settings.js';
import { EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

export function config(options: JsonOption): Promise<number> {
  const { current } = loadSettings();
  const rows = current.map(({ env, value, origin, doc }) => [env, value, origin, doc]);
  print(current, options, () => table(['variable', 'value', 'from', 'meaning'], rows));
  return Promise.resolve(EXIT.ok);
}
