import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** The Lua scripts of lua/, by their commands on a client that defineScripts has prepared. */
const SCRIPTS = {
  ranklogApply: 'apply.lua',
  ranklogBeginResync: 'begin-resync.lua',
  ranklogBeginShadow: 'begin-shadow.lua',
  ranklogBuild: 'build.lua',
  ranklogClaim: 'claim.lua',
  ranklogCompare: 'compare.lua',
  ranklogCompareGenerations: 'compare-generations.lua',
  ranklogPromote: 'promote.lua',
  ranklogUnregister: 'unregister.lua',
  ranklogDeleteReports: 'delete-reports.lua',
  ranklogEndResync: 'end-resync.lua',
  ranklogMove: 'move.lua',
  ranklogPage: 'page.lua',
  ranklogRank: 'rank-of.lua',
  ranklogRegister: 'register.lua',
  ranklogReleaseLease: 'release-lease.lua',
  ranklogRemove: 'remove.lua',
  ranklogRenewLease: 'renew-lease.lua',
  ranklogSweep: 'sweep.lua',
  ranklogViews: 'views.lua',
} as const;

type Arguments = readonly [numberOfKeys: number, ...keysAndArguments: (string | number)[]];

/** What the scripts that catch up answer: see lua/catch-up.lua. */
export type CatchUpReply = (number | string)[];

/** First word of a reply to a read that named the wrong generation: see lua/read.lua. */
export const MOVED = 'MOVED';

declare module 'ioredis' {
  interface Redis {
    ranklogApply(...args: Arguments): Promise<number | string[]>;
    ranklogBeginResync(...args: Arguments): Promise<string>;
    ranklogBeginShadow(...args: Arguments): Promise<number>;
    ranklogBuild(...args: Arguments): Promise<number | CatchUpReply>;
    ranklogClaim(...args: Arguments): Promise<string>;
    ranklogCompare(...args: Arguments): Promise<[string, string, number]>;
    ranklogCompareGenerations(...args: Arguments): Promise<number | CatchUpReply>;
    ranklogPromote(...args: Arguments): Promise<number | CatchUpReply>;
    ranklogUnregister(...args: Arguments): Promise<number>;
    ranklogDeleteReports(...args: Arguments): Promise<number>;
    ranklogEndResync(...args: Arguments): Promise<string[]>;
    ranklogMove(...args: Arguments): Promise<number>;
    ranklogPage(...args: Arguments): Promise<string[] | string>;
    ranklogRank(...args: Arguments): Promise<string[] | string>;
    ranklogRegister(...args: Arguments): Promise<string[]>;
    ranklogReleaseLease(...args: Arguments): Promise<number>;
    ranklogRemove(...args: Arguments): Promise<number | string>;
    ranklogRenewLease(...args: Arguments): Promise<number>;
    ranklogSweep(...args: Arguments): Promise<number>;
    ranklogViews(...args: Arguments): Promise<string[]>;
  }
}

const FOLDER = new URL('./lua/', import.meta.url);
const INCLUDE = /^-- include (\S+)$/gm;

/**
 * Makes the scripts commands of this client: EVALSHA, and EVAL only when the server does not know the script.
 * Safe to call more than once on a client.
 */
export function defineScripts(redis: Redis): void {
  for (const [name, file] of Object.entries(SCRIPTS))
    if (!(name in redis)) redis.defineCommand(name, { lua: scriptText(file) });
}

/** The text of a script, its `-- include FILE` lines replaced by the files: the same for every call. */
function scriptText(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8').replace(INCLUDE, (_, included: string) =>
    scriptText(included),
  );
}
