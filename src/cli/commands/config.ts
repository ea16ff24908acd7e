import { loadSettings } from '../../config/settings.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import type { JsonOption } from '../usage/options.js';

export function config(options: JsonOption): Promise<number> {
  print(loadSettings().current, options, (settings) =>
    table(
      ['variable', 'value', 'from', 'meaning'],
      settings.map(({ env, value, origin, doc }) => [env, value, origin, doc]),
    ),
  );
  return Promise.resolve(EXIT.ok);
}
