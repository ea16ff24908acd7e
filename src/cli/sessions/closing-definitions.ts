import { canClose, type BoardDefinition } from '#board';
import { IdentityCheck } from '#board-store';
import { toError } from '#errors';
import { partitionCount } from '#kafka-batch';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';
import type { KafkaSession } from './kafka-session.js';

/**
 * The live definitions of boards with windows that close, by the definitions topic. Leaves out
 * boards whose newest definition can't be read. If the topic can't be read, logs it and returns
 * none: who sends events may lack the right.
 */
export async function readClosingDefinitions(
  session: KafkaSession,
): Promise<Map<string, BoardDefinition>> {
  const { kafka, topics, logger } = session;
  const found = new Map<string, BoardDefinition>();
  try {
    if ((await partitionCount(kafka, topics.definitions)) === 0) return found;
    const log = new DefinitionsTopic(session, new IdentityCheck({}), logger);
    for (const [board, { definition }] of await log.readAll())
      if (definition !== null && canClose(definition) && !log.unreadable.has(board))
        found.set(board, definition);
  } catch (error) {
    logger.warn(
      `events are not checked for closed windows: ${topics.definitions} can't be read: ` +
        toError(error).message,
      { error },
    );
  }
  return found;
}
