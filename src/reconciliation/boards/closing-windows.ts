import type { StoreStatus } from '#board-store';
import { missingAnnouncerRights, type Subject } from '../../infra/server-checks.js';
import { closingBoards, closingProblems } from '../../infra/topics.js';
import { readBoardsFile } from './read-boards-file.js';

/**
 * Why the results of closing windows can't be announced: one text for each problem. None if neither the boards file nor a live
 * board has closing windows, so that other users need no rights for them.
 * @throws BoardsFileError, BoardsFileMissingError, and errors of Kafka and Redis
 */
export async function announcementProblems(
  { settings, connection }: Pick<Subject, 'settings' | 'connection'>,
  status: Pick<StoreStatus, 'live'>,
): Promise<string[]> {
  const live = (await status.live()).map(({ definition }) => definition);
  const closing = closingBoards([...(await readBoardsFile(settings.boards)), ...live]);
  if (closing.length === 0) return [];
  const { admin, topics } = connection;
  const problems = await closingProblems(admin, topics, closing);
  const rights = await missingAnnouncerRights({ settings, connection });
  return rights === undefined ? problems : [...problems, rights];
}
