import pLimit from 'p-limit';
import type { BanEntry, BoardReader } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import type { PlayerRecord, PlayerRecordKind } from '#contracts';
import {
  banJson,
  type PlayerOfBoard,
  type SentRecord,
  type SortedRecords,
} from '../text/player-text.js';
import { whenClosed } from './kafka-session.js';
import type { ReconciliationSession } from './reconciliation-session.js';

/**
 * Whether reads of one of the boards are stale.
 * @throws UnknownBoardError, BoardBuildingError
 */
export async function anyStale(
  reader: BoardReader,
  records: readonly PlayerOfBoard[],
): Promise<boolean> {
  let isStale = false;
  // Asks for every board even after a stale one, as it has to throw if a board is missing.
  for (const board of new Set(records.map((record) => record.board))) {
    const isBoardStale = await reader.isStale(board);
    isStale ||= isBoardStale;
  }
  return isStale;
}

/** Sorts the records by whether they need to be sent. An unban of an erased player is refused. */
export async function sortRecords(
  reader: BoardReader,
  kind: PlayerRecordKind,
  records: readonly PlayerRecord[],
): Promise<SortedRecords> {
  const entries = await readEntries(reader, records);
  const toSend: PlayerRecord[] = [];
  const already: SortedRecords['already'][number][] = [];
  const refused: SortedRecords['refused'][number][] = [];
  for (const [index, record] of records.entries()) {
    const { board, playerId } = record;
    const entry = entries[index] ?? null;
    const present = entry?.kind ?? 'unbanned';
    if (entry?.kind === 'erased' && kind === 'unbanned') {
      refused.push(banJson(board, entry));
    } else if (present === kind || present === 'erased') {
      already.push(entry === null ? { board, playerId, kind } : banJson(board, entry));
    } else {
      toSend.push(record);
    }
  }
  return { kind, toSend, already, refused };
}

/** How many players are looked up at a time. */
const LOOK_UPS = 100;

function readEntries(
  reader: Pick<BoardReader, 'ban'>,
  players: readonly PlayerOfBoard[],
): Promise<(BanEntry | null)[]> {
  const limit = pLimit(LOOK_UPS);
  const reads = players.map(({ board, playerId }) => limit(() => reader.ban(board, playerId)));
  return Promise.all(reads);
}

/** Sends the records. Waits until they are applied, or until the timeout. */
export async function sendRecords(
  session: ReconciliationSession,
  kind: PlayerRecordKind,
  records: readonly PlayerRecord[],
  timeoutMs: number,
): Promise<SentRecord[]> {
  const { kafka, logger, settings, stores } = session;
  const { topicPrefix } = settings;
  const source = '/ranklog/players';
  const producer = new ScoreProducer({ kafka, topicPrefix, source });
  await producer.connect();
  try {
    const moderation = new ModerationProducer({ producer, reader: stores.reader, source });
    const sent = await moderation.sendAndWait(kind, records, { timeoutMs });
    return sent.map(({ partition, offset, counts }, index) => {
      const { board = '', playerId = '' } = records[index] ?? {};
      return { board, playerId, partition, offset, counts };
    });
  } finally {
    await whenClosed(producer.disconnect(), logger);
  }
}
