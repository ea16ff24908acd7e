import { Command } from 'commander';
import { boardsCheckCommand } from './boards-check.js';
import { boardsSchemaCommand } from './boards-schema.js';
import { boardsShowCommand } from './boards-show.js';

/** `ranklog boards`: what the boards file says. Needs neither Kafka nor Redis. */
export function boardsCommand(): Command {
  return new Command('boards')
    .description('check, show and describe boards files')
    .addCommand(boardsCheckCommand())
    .addCommand(boardsShowCommand())
    .addCommand(boardsSchemaCommand());
}
