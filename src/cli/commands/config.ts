import { Command } from 'commander';
import { loadSettings } from '../../operations/settings.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';

/** `ranklog config`: what is in force, and where it came from. */
export function configCommand(): Command {
  return new Command('config')
    .description('show the settings in force and where each came from; secrets are hidden')
    .option('--json', 'as JSON')
    .action((options: { json?: boolean }) =>
      runCommand(() => {
        print(loadSettings().inForce, options, (settings) =>
          table(
            ['variable', 'value', 'from', 'meaning'],
            settings.map(({ env, value, origin, doc }) => [env, value, origin, doc]),
          ),
        );
        return Promise.resolve(EXIT.ok);
      }),
    );
}
