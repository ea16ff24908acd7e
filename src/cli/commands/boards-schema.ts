import { Command } from 'commander';
import { BOARDS_FILE_SCHEMA } from '#board';
import { EXIT } from '../exit-codes.js';
import { print } from '../output.js';
import { runCommand } from '../run-command.js';

/** `ranklog boards schema`: what editors complete boards files by. */
export function boardsSchemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of boards files, for editors')
    .addHelpText('after', '\nExample:\n  ranklog boards schema > boards.schema.json')
    .action(() =>
      runCommand(() => {
        print(BOARDS_FILE_SCHEMA, { json: true }, () => '');
        return Promise.resolve(EXIT.ok);
      }),
    );
}
