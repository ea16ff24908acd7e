import { Command } from 'commander';
import type { ViewSummary } from '#board-store';
import { EXIT } from '../exit-codes.js';
import { expiryText } from '../expiry-text.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';
import { withRedis } from '../session.js';
import { addGenerationOption } from '../view-option.js';
import { tellStale } from './standings.js';

/** `ranklog views BOARD`: the rankings of a board. */
export function viewsCommand(): Command {
  const command = new Command('views')
    .description('list the views of a board, each one ranking, and when they expire')
    .argument('<board>');
  return addGenerationOption(command)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  ranklog views football')
    .action((board: string, options: { generation?: string; json?: boolean }) =>
      runCommand(() =>
        withRedis(async ({ reader }) => {
          const views = await reader.views(board);
          if (await reader.isStale(board)) tellStale();
          print(views.map(toJson), options, () => toTable(views));
          return EXIT.ok;
        }, options.generation),
      ),
    );
}

function toJson({ view, size, version, expiresAt }: ViewSummary) {
  return { view, size, version, expiresAt: expiryText(expiresAt) };
}

function toTable(views: readonly ViewSummary[]): string {
  return table(
    ['view', 'players', 'version', 'expires'],
    views.map((view) => [view.view, view.size, view.version, toJson(view).expiresAt ?? 'never']),
  );
}
