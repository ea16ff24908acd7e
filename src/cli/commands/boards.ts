import { Command } from 'commander';
import { boardsApplyCommand } from './boards-apply.js';
import { boardsCheckCommand } from './boards-check.js';
import { boardsGenerationsCommand } from './boards-generations.js';
import { boardsPlanCommand } from './boards-plan.js';
import { boardsRebuildCommand } from './boards-rebuild.js';
import { boardsRollbackCommand } from './boards-rollback.js';
import { boardsSchemaCommand } from './boards-schema.js';
import { boardsShowCommand } from './boards-show.js';
import { boardsDiscardCommand, boardsSnapshotCommand } from './boards-snapshot.js';
import { boardsVerifyCommand } from './boards-verify.js';

const COMMANDS = [
  boardsCheckCommand,
  boardsShowCommand,
  boardsSchemaCommand,
  boardsPlanCommand,
  boardsApplyCommand,
  boardsVerifyCommand,
  boardsRebuildCommand,
  boardsRollbackCommand,
  boardsSnapshotCommand,
  boardsDiscardCommand,
  boardsGenerationsCommand,
];

/** `ranklog boards`: what the boards file says, and making the live boards so. `check`, `show` and `schema` need no server. */
export function boardsCommand(): Command {
  const boards = new Command('boards').description(
    'check and apply boards files; verify, rebuild and roll back boards; look at them as they were',
  );
  for (const command of COMMANDS) boards.addCommand(command());
  return boards;
}
