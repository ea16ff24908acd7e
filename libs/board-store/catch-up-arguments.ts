import type { KeySpace } from './keys.js';
import { runArguments } from './run-arguments.js';
import type { CatchUpReply } from './scripts.js';
import type {
  CatchUpOutcome,
  Lease,
  Shadow,
  ShadowRefusal,
  Stretch,
  AppliedOffset,
} from './generation-types.js';

/** Where a catch-up call goes: the shadow of a shard, by the right of a lease. */
export interface ShadowPlace {
  readonly keys: KeySpace;
  readonly shard: number;
  readonly lease: Lease;
  readonly shadow: Shadow;
}

/** Keys and arguments of an ending: see the header of its script. */
export interface EndingArguments {
  readonly keys: readonly string[];
  readonly arguments: readonly (string | number)[];
}

const NO_ENDING: EndingArguments = { keys: [], arguments: [] };

/** How many keys and arguments lua/catch-up.lua has before those of the ending. */
const KEYS_OF_HEAD = 5;
const ARGUMENTS_OF_HEAD = 6;

/** A catch-up call as keys and arguments of its script: lua/catch-up.lua gives the order. */
export function catchUpArguments(
  { keys, shard, lease, shadow }: ShadowPlace,
  stretches: readonly Stretch[],
  ending = NO_ENDING,
): [number, ...(string | number)[]] {
  const { board, generation } = shadow;
  const boards = new Map([[board, shadow]]);
  const runs = stretches.map(({ partition, from, through, entries }) => {
    const run = runArguments(keys, { shard, partition, boards, entries });
    return { keys: run.keys, arguments: [partition, from, through, ...run.arguments] };
  });
  const allKeys = [
    keys.lease(shard, board),
    keys.shadows(shard),
    keys.live(shard),
    keys.appliedOffsets(shard),
    keys.appliedOffsetsOf(shard, generation),
    ...ending.keys,
    ...runs.flatMap((run) => run.keys),
  ];
  return [
    allKeys.length,
    ...allKeys,
    lease.token,
    board,
    generation,
    stretches.length,
    KEYS_OF_HEAD + ending.keys.length,
    ARGUMENTS_OF_HEAD + ending.arguments.length,
    ...ending.arguments,
    ...runs.flatMap((run) => run.arguments),
  ];
}

/** What the scripts answer when they wrote nothing. */
const REFUSALS: Readonly<Record<number, ShadowRefusal>> = {
  [-1]: 'generationChanged',
  [-5]: 'leaseLost',
  [-6]: 'shadowGone',
  [-10]: 'serverChanged',
  [-12]: 'gap',
};

/** The outcome of a reply; `readEnding` reads what the script adds when the shadow is at the live applied offsets. */
export function catchUpOutcome<Ending>(
  reply: number | CatchUpReply,
  readEnding?: (words: string[]) => Ending,
): CatchUpOutcome<Ending> {
  if (!Array.isArray(reply)) return { status: refusalOf(reply) };
  const [caughtUp, count, ...words] = reply.map(String);
  const rest = 3 * Number(count);
  const appliedOffsets = new Map<number, AppliedOffset>();
  for (let at = 0; at < rest; at += 3)
    appliedOffsets.set(Number(words[at]), {
      shadow: Number(words[at + 1]),
      live: Number(words[at + 2]),
    });
  if (caughtUp !== '1' || readEnding === undefined) return { status: 'applied', appliedOffsets };
  return { status: 'applied', appliedOffsets, ending: readEnding(words.slice(rest)) };
}

/** What a script that writes to a shadow says in place of its answer. */
export function refusalOf(reply: number): ShadowRefusal {
  const refusal = REFUSALS[reply];
  if (refusal !== undefined) return refusal;
  throw new Error(`a script that catches up answered ${reply}, a code that is not known`);
}
