import { Command, Option } from 'commander';
import { LazyCommand } from './run-command.js';
import { PLAYER, wholeNumber } from './text/options.js';

/** A command that sends player records. With --all-boards, the first argument is the player. */
function recordCommand(name: string): LazyCommand {
  const file = new Option(
    '--file <list>',
    'the players: a line has an id, or a JSON object of "players list --json"; - reads stdin',
  );
  return new LazyCommand(name)
    .argument('[board]')
    .argument('[player]', PLAYER)
    .option('--all-boards', 'on each live board; the only argument is the player')
    .addOption(file.conflicts('allBoards'))
    .option('--reason <text>', 'why; up to 256 bytes')
    .option('--by <text>', 'who decided it (default: your user name)')
    .option('--timeout <seconds>', 'how long to wait until ranklog applies it', wholeNumber, 10)
    .option('--dry-run', 'send nothing; show the players');
}

const ban = recordCommand('ban')
  .description('take players off all views of a board; their scores are kept, and go on changing')
  .notes(
    `A ban counts once a process with the role ingest has applied it. A player who is banned or erased already
is left out. Exit code 1: a record has no effect, because a later one counts or ranklog refused it. Exit code
3: a record is sent, and not applied within --timeout; it still will be.

Examples:
  ranklog players ban arena p-17 --reason "speed hack"
  ranklog players ban p-17 --all-boards
  ranklog players list arena --json | ranklog players ban cup --file -`,
  )
  .answers(async () => (await import('./commands/players.js')).banPlayers);

const unban = recordCommand('unban')
  .description('bring banned players back, with all scores')
  .notes(
    `A player who is not banned is left out. Exit code 1: a player is erased, which this can't undo. Exit code 3:
as of ban.

Example:
  ranklog players unban arena p-17`,
  )
  .answers(async () => (await import('./commands/players.js')).unbanPlayers);

const erase = recordCommand('erase')
  .option('--yes', 'do not ask for confirmation')
  .description('delete what a board keeps of players, for good')
  .notes(
    `Later events of the player leave nothing either. Prints what else still has the id. Only a void of the
record ("ranklog scores void BOARD --at PARTITION/OFFSET") undoes it, as long as the log has the events.

Example:
  ranklog players erase p-17 --all-boards`,
  )
  .answers(async () => (await import('./commands/players.js')).erasePlayers);

const list = new LazyCommand('list')
  .description('list the banned and erased players of a board, the latest first')
  .argument('<board>')
  .argument('[player]', `only this one, with what each view keeps of it: ${PLAYER}`)
  .option('--limit <n>', 'the last n only', wholeNumber)
  .option('--json', 'print JSON, one object a line')
  .notes(
    `Exit code 1: the player is neither banned nor erased.

Examples:
  ranklog players list arena
  ranklog players list arena p-17`,
  )
  .runs(async () => (await import('./commands/players.js')).listPlayers);

export const players = new Command('players').description('ban, unban, erase and list players');
for (const command of [ban, unban, erase, list]) players.addCommand(command);
