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

  let code = await carryOut(session, sorted, options);
  if (code === EXIT.ok && sorted.refused.length > 0) code = EXIT.no;
  return readCode(isStale, code);
}

/**
 * Sends the records. Asks before an erasure. Only prints the plan if there is nothing to send, or
 * with --dry-run. Returns the exit code.
 */
async function carryOut(
  session: ReconciliationSession,
  sorted: SortedRecords,
  options: ChangeOptions,
): Promise<number> {
  const { kind, toSend, already, refused } = sorted;
  const isDone = toSend.length === 0;
  const sendsNothing = isDone || options.dryRun === true;
  const asks = kind === 'erased' && options.yes !== true;

  const remains: string[] = [];
  if (kind === 'erased' && !isDone) remains.push('', await remainsOf(session, toSend));

  const showsPlan = sendsNothing || (asks && options.json !== true);
  if (showsPlan) print(sorted, options, () => [...planText(sorted), ...remains].join('\n'));
  if (sendsNothing) return EXIT.ok;

  if (asks) await confirmErasure(toSend);
  const timeoutMs = options.timeout * 1_000;
  const sent = await sendRecords(session, kind, toSend, timeoutMs);

  const lines = [...alreadyText(sorted), sentText(sent, timeoutMs)];
  if (!asks) lines.push(...remains);
  print({ kind, sent, already, refused }, options, () => lines.join('\n'));

  if (sent.some(({ counts }) => counts === null)) return EXIT.unreachable;
  if (sent.some(({ counts }) => counts === false)) return EXIT.no;
  return EXIT.ok;
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
  names: Names,
  options: ChangeOptions,
): Promise<PlayerRecord[]> {
  const texts = textsOf(options);
  if (options.file !== undefined) {
    const defaults = names.board === undefined ? texts : { ...texts, board: names.board };
    return readPlayerList(options.file, defaults);
  }

  let boards = [names.board ?? ''];
  let playerId = names.player ?? '';
  if (options.allBoards) {
    const live = await session.stores.reader.boards();
    boards = live.map(({ board }) => board);
    playerId = names.board ?? ''; // with --all-boards, the only name is the player's
  }
  if (boards.length === 0) throw new CommandError('there is no live board', EXIT.no);

  const records = boards.map((name) => ({ board: name, playerId, ...texts }));
  const problem = playerRecordProblem(records[0]);
  if (problem !== undefined) throw new CommandError(`${problem}; nothing was sent`, EXIT.usage);
  return records;
}

/** Who decided the change, and why. */
function textsOf({ reason, by = userName() }: ChangeOptions): Pick<PlayerRecord, 'reason' | 'by'> {
  const texts: Pick<PlayerRecord, 'reason' | 'by'> = {};
  if (reason !== undefined) texts.reason = reason;
  if (by !== undefined) texts.by = by;
  return texts;
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
  const named = live.filter(({ board }) => names.has(board));
  const boards = named.map(({ definition }) => definition);
  const generations = await stores.catalog.generations();
  return remainsText({ boards, generations, topics });
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
  const kept = await reader.kept(board, player);
  const answer = { board, playerId: player, ban, kept };
  const text = options.json ? JSON.stringify(answer) : playerText(answer);
  await printPart(`${text}\n`);

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
