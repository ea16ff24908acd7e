import { parseBoardsFile, type BoardDefinition } from '#board';
import { readBoardsFile } from '../../registry/board-registrar.js';
import { needsBuild, type Plan } from '../../registry/plan.js';
import { readPlan, type PlanOptions } from '../../registry/read-plan.js';
import { EXIT } from '../exit-codes.js';
import { print } from '../output.js';
import { planText } from '../plan-text.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';

/** `ranklog boards plan`. */
export function boardsPlan(options: { json?: boolean }): Promise<number> {
  return withReconciliation((session) => plan(session, options));
}

async function plan(session: ReconciliationSession, options: { json?: boolean }): Promise<number> {
  const definitions = await fileDefinitions(session);
  const found = await makePlan(session, definitions);
  print(found, options, (value) => planText(value, session));
  return isToDo(found) ? EXIT.no : EXIT.ok;
}

/** The boards of the boards file. @throws BoardsFileError, BoardsFileMissingError */
export async function fileDefinitions({
  settings: { boards },
}: ReconciliationSession): Promise<BoardDefinition[]> {
  return parseBoardsFile(await readBoardsFile(boards), boards);
}

export function makePlan(
  session: ReconciliationSession,
  definitions: readonly BoardDefinition[],
  options?: PlanOptions,
): Promise<Plan> {
  return readPlan({ ...session, topic: session.topics.scoreEvents }, definitions, options);
}

/** Whether a plan has boards to build. */
export function isToDo({ boards }: Plan): boolean {
  return boards.some(needsBuild);
}
