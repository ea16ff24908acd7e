import { canClose } from '#board';
import type { StoreStatus } from '#board-store';
import { missingAnnouncerRights, type Subject } from '../../infra/server-checks.js';
import { closingProblems } from '../../infra/topics.js';
import { readBoardsFile } from './read-boards-file.js';

/**
 * Why the results of closing windows can't be announced: one text for each problem. Empty if no
 * board of the file and no live board has closing windows, so that other users need no rights for
 * announcements.
 * @throws BoardsFileError, BoardsFileMissingError, and errors of Kafka and Redis
 */
export async function announcementProblems(
  { settings, connection }: Pick<Subject, 'settings' | 'connection'>,
  status: Pick<StoreStatus, 'live'>,
): Promise<string[]> {
  const live = (await status.live()).map(({ definition }) => definition);
  const file = await readBoardsFile(settings.boards);
  const closing = new Set([...file, ...live].filter(canClose).map(({ board }) => board));
  if (closing.size === 0) return [];

  const { admin, topics } = connection;
  const problems = await closingProblems(admin, topics, [...closing]);
  const rights = await missingAnnouncerRights({ settings, connection });
  return rights === undefined ? problems : [...problems, rights];
}
