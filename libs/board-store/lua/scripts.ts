// To add a script: write commands/NAME-N.lua, where N is the number of its keys, not counting
// lists, and list it here. scripts.spec.ts compares name, header and code. CONTRIBUTING.md has the
// rules for scripts.

import type { Cluster, Redis } from 'ioredis';
import { ArgumentOrder, type Argument, type Named } from './argument-order.js';
import { readScript } from './script-text.js';

type Script<Reply> = (named: Named) => Promise<Reply>;

/** The scripts of lua/commands as methods of a client. Their headers describe each of them. */
interface Scripts {
  ranklogApplyBuffer: Script<number | Buffer[]>;
  ranklogBeginResync: Script<string>;
  ranklogBeginShadow: Script<number>;
  ranklogBuild: Script<CatchUpReply>;
  ranklogClaim: Script<string>;
  ranklogCompareGenerations: Script<CatchUpReply>;
  ranklogDeleteLeaders: Script<number>;
  ranklogDeleteReports: Script<number>;
  ranklogEndResync: Script<string>;
  ranklogJoinRecords: Script<number>;
  ranklogHistogramBuffer: Script<ReadReply>;
  ranklogMove: Script<number>;
  ranklogPageBuffer: Script<ReadReply>;
  ranklogPlayersBuffer: Script<ReadReply>;
  ranklogPromote: Script<CatchUpReply>;
  ranklogRankShadow: Script<number | RankReply>;
  ranklogReadContinuity: Script<[server: string, token: string, isContinued: number, us: string]>;
  ranklogRegister: Script<null>;
  ranklogRemove: Script<number | string>;
  ranklogRenewLease: Script<number>;
  ranklogSearchBuffer: Script<ReadReply>;
  ranklogSweep: Script<number>;
  ranklogViews: Script<string[]>;
}

declare module 'ioredis' {
  // Both clients get the scripts.
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Redis extends Scripts {}
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Cluster extends Scripts {}
}

/** The reply of a script that includes lua/includes/places.lua: see its header. */
export type ReadReply = Buffer[] | Buffer;

/** The reply of lua/commands/rank-shadow-4.lua. */
export type RankReply = [
  server: string,
  playersCursor: string,
  players: number,
  viewsDone: number,
  viewsCursor: string,
  found: string[],
];

/** The reply of the scripts that include lua/includes/catch-up.lua. */
export type CatchUpReply = number | (number | string)[];

/** Begins the reply to a read that named an outdated generation: see lua/includes/read.lua. */
export const MOVED = 'MOVED';

/** Why a script wrote nothing. A spec compares this with lua/includes/return-codes.lua. */
export enum ReturnCode {
  generationChanged = -1,
  rolledBack = -2,
  storeChanged = -3,
  recovering = -4,
  leaseLost = -5,
  shadowGone = -6,
  serverChanged = -10,
  leaseHeld = -11,
  gap = -12,
}
export type Refusal = keyof typeof ReturnCode;

/** The refusal that a script returned; undefined if it did its work. */
export function refusalOf(reply: unknown): Refusal | undefined {
  if (typeof reply !== 'number' || reply >= 0) return undefined;
  const refusal = ReturnCode[reply] as Refusal | undefined;
  if (refusal === undefined) throw new Error(`a script returned ${reply}, an unknown code`);
  return refusal;
}

export const READ_SCRIPTS = [
  'histogram-10',
  'page-10',
  'players-10',
  'search-10',
  'views-9',
] as const;

/**
 * The files of lua/commands. This is a list, because dist/ may also hold files of older builds. A
 * name ends with the number of fixed keys.
 */
export const SCRIPTS = [
  'apply-7',
  'begin-resync-2',
  'begin-shadow-9',
  'build-4',
  'claim-1',
  'compare-generations-16',
  'delete-leaders-1',
  'delete-reports-3',
  'end-resync-13',
  'join-records-2',
  'move-5',
  'promote-13',
  'rank-shadow-4',
  'read-continuity-1',
  'register-7',
  'remove-9',
  'renew-lease-2',
  'sweep-6',
  ...READ_SCRIPTS,
] as const;

/**
 * Defines scripts as commands of the client, except those that it already has. The client sends
 * EVALSHA, and EVAL if the server lacks the script.
 */
export function defineScripts(redis: Redis | Cluster, scripts: readonly string[] = SCRIPTS): void {
  for (const script of scripts) {
    const name = commandName(script);
    if (name in redis) continue;

    const { text, ...header } = readScript(script);
    redis.defineCommand(name, { lua: text });
    const order = new ArgumentOrder(script, header);
    takeNames(redis, name, order);
    takeNames(redis, `${name}Buffer`, order);
  }
}

/** Makes a command take its keys and arguments by name. */
function takeNames(redis: Redis | Cluster, command: string, order: ArgumentOrder): void {
  const send = Reflect.get(redis, command) as (...words: Argument[]) => Promise<unknown>;
  Reflect.set(redis, command, (named: Named) => send.apply(redis, order.words(named)));
}

/** `ranklogBeginShadow` for `begin-shadow-9`. */
export function commandName(script: string): string {
  const withoutKeyCount = script.replace(/-\d+$/, '');
  return `ranklog-${withoutKeyCount}`.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Splits a flat list into rows of `length` words. */
export function rowsOf(words: readonly string[], length: number): string[][] {
  const rows: string[][] = [];
  for (let begin = 0; begin < words.length; begin += length)
    rows.push(words.slice(begin, begin + length));
  return rows;
}
