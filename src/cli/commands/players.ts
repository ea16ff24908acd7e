import { userInfo } from 'node:os';
import type { BoardReader } from '#board-store';
import { playerRecordProblem, type PlayerRecord, type PlayerRecordKind } from '#contracts';
import { requireTopics } from '../../infra/topics.js';
import { readPlayerList } from '../input/player-list.js';
import { anyStale, sendRecords, sortRecords } from '../sessions/player-changes.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { openRedis } from '../sessions/session.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { CommandError, EXIT, readCode } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, printPart } from '../text/output.js';
import {
  alreadyText,
  banJson,
  bansTable,
  planText,
  playersText,
  playerText,
  refusalText,
  remainsText,
  sentText,
  type SortedRecords,
} from '../text/player-text.js';

interface ChangeOptions extends JsonOption {
  readonly allBoards?: boolean;
  readonly file?: string;
  readonly reason?: string;
  readonly by?: string;
  /** In seconds. */
  readonly timeout: number;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface Names {
  readonly board: string | undefined;
  readonly player: string | undefined;
}

/** `ranklog players ban` */
export function banPlayers(
  board: string | undefined,
  player: string | undefined,
  options: ChangeOptions,
): Promise<number> {
  return change('banned', { board, player }, options);
}

/** `ranklog players unban` */
export function unbanPlayers(
  board: string | undefined,
  player: string | undefined,
  options: ChangeOptions,
): Promise<number> {
  return change('unbanned', { board, player }, options);
}

/** `ranklog players erase` */
export function erasePlayers(
  board: string | undefined,
  player: string | undefined,
  options: ChangeOptions,
): Promise<number> {
  return change('erased', { board, player }, options);
}

async function change(
  kind: PlayerRecordKind,
  names: Names,
  options: ChangeOptions,
): Promise<number> {
  checkNames(names, options);
  await using session = await openReconciliation();
  const { reader } = session.stores;
  await requireTopics(session.admin, [session.topics.scoreEvents]);
  const records = await readRecords(session, names, options);
  const isStale = await anyStale(reader, records);

  const sorted = await sortRecords(reader, kind, records);
  for (const entry of sorted.refused) process.stderr.write(`ranklog: ${refusalText(entry)}\n`);
  // The players of a file are not looked up, as each look-up reads all views of a board.
  if (kind !== 'unbanned' && options.file === undefined) await warnOfUnknown(reader, sorted.toSend);

  const code = await carryOut(session, sorted, options);
  const isRefused = sorted.refused.length > 0;
  return readCode(isStale, code === EXIT.ok && isRefused ? EXIT.no : code);
}

/** Asks before an erasure. Returns the exit code. */
async function carryOut(
  session: ReconciliationSession,
  sorted: SortedRecords,
  options: ChangeOptions,
): Promise<number> {
  const { kind, toSend, already, refused } = sorted;
  const { json = false, dryRun = false, yes = false } = options;
  const isDone = toSend.length === 0;
  const asks = kind === 'erased' && !yes;
  const remains = kind === 'erased' && !isDone ? ['', await remainsOf(session, toSend)] : [];
  if (isDone || dryRun || (asks && !json))
    print(sorted, options, () => [...planText(sorted), ...remains].join('\n'));
  if (isDone || dryRun) return EXIT.ok;

  if (asks) await confirmErasure(toSend);
  const timeoutMs = options.timeout * 1_000;
  const sent = await sendRecords(session, kind, toSend, timeoutMs);
  const lines = [...alreadyText(sorted), sentText(sent, timeoutMs), ...(asks ? [] : remains)];
  print({ kind, sent, already, refused }, options, () => lines.join('\n'));
  if (sent.some(({ counts }) => counts === null)) return EXIT.unreachable;
  return sent.some(({ counts }) => counts === false) ? EXIT.no : EXIT.ok;
}

/** @throws CommandError */
function checkNames({ board, player }: Names, { allBoards, file }: ChangeOptions): void {
  const given = [board, player].filter((name) => name !== undefined).length;
  const needed = allBoards === true ? 1 : 2;
  const isComplete = file === undefined ? given === needed : given <= 1;
  if (isComplete) return;
  throw new CommandError(
    'name BOARD PLAYER, PLAYER --all-boards, or BOARD --file LIST',
    EXIT.usage,
  );
}

/** @throws CommandError */
async function readRecords(
  session: ReconciliationSession,
  { board, player }: Names,
  { allBoards, file, reason, by = userName() }: ChangeOptions,
): Promise<PlayerRecord[]> {
  const texts = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
  if (file !== undefined)
    return readPlayerList(file, { ...texts, ...(board !== undefined && { board }) });

  const live = allBoards ? await session.stores.reader.boards() : [];
  const boards = allBoards ? live.map((known) => known.board) : [board ?? ''];
  if (boards.length === 0) throw new CommandError('there is no live board', EXIT.no);

  const playerId = (allBoards ? board : player) ?? '';
  const records = boards.map((name) => ({ board: name, playerId, ...texts }));
  const problem = playerRecordProblem(records[0]);
  if (problem !== undefined) throw new CommandError(`${problem}; nothing was sent`, EXIT.usage);
  return records;
}

/** Returns undefined for a user without a name, as in a container. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

async function warnOfUnknown(reader: BoardReader, records: readonly PlayerRecord[]): Promise<void> {
  const kept = await Promise.all(
    records.map(({ board, playerId }) => reader.kept(board, playerId)),
  );
  const unknown = records.filter((_, index) => kept[index]?.length === 0);
  if (unknown.length > 0)
    process.stderr.write(`ranklog: without a score yet: ${playersText(unknown)}; check the id\n`);
}

/** @throws CommandError if the user declines, CancelledError */
async function confirmErasure(records: readonly PlayerRecord[]): Promise<void> {
  using cancellation = interruption();
  const question = `erase ${records.length} player(s) for good?`;
  await confirmOnTerminal(question, cancellation.signal, {
    command: 'players erase',
    instead: '--dry-run to see what it would erase',
  });
}

async function remainsOf(
  { stores, topics }: ReconciliationSession,
  records: readonly PlayerRecord[],
): Promise<string> {
  const names = new Set(records.map(({ board }) => board));
  const live = await stores.reader.boards();
  const boards = live.flatMap(({ board, definition }) => (names.has(board) ? [definition] : []));
  return remainsText({ boards, generations: await stores.catalog.generations(), topics });
}

interface ListOptions extends JsonOption {
  readonly limit?: number;
}

/** `ranklog players list BOARD [PLAYER]` */
export async function listPlayers(
  board: string,
  player: string | undefined,
  options: ListOptions,
): Promise<number> {
  using redis = await openRedis();
  const { reader } = redis.stores;
  const isStale = await reader.isStale(board);
  if (player === undefined) {
    await printBans(reader, board, options);
    return readCode(isStale);
  }
  const entry = await reader.ban(board, player);
  const ban = entry === null ? null : banJson(board, entry);
  const answer = { board, playerId: player, ban, kept: await reader.kept(board, player) };
  await printPart(`${options.json ? JSON.stringify(answer) : playerText(answer)}\n`);
  const isPresent = ban === null || ban.kind === 'unbanned';
  return readCode(isStale, isPresent ? EXIT.no : EXIT.ok);
}

async function printBans(
  reader: BoardReader,
  board: string,
  { limit = Infinity, json = false }: ListOptions,
): Promise<void> {
  const all = await reader.allBans(board);
  const bans = all.slice(0, limit).map((entry) => banJson(board, entry));
  const lines = json ? bans.map((ban) => `${JSON.stringify(ban)}\n`) : [`${bansTable(bans)}\n`];
  await printPart(lines.join(''));
}
