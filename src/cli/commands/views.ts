import { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';
import { withRedis } from '../session.js';

/** `ranklog views BOARD`: the rankings of a board. */
export function viewsCommand(): Command {
  return new Command('views')
    .description('list the views of a board: each is one ranking')
    .argument('<board>')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  ranklog views football')
    .action((board: string, options: { json?: boolean }) =>
      runCommand(() =>
        withRedis(async ({ reader }) => {
          const views = await reader.views(board);
          print(views, options, () =>
            table(
              ['view', 'players'],
              views.map(({ view, size }) => [view, size]),
            ),
          );
          return EXIT.ok;
        }),
      ),
    );
}
