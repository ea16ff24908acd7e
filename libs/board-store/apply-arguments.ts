import { recordText } from './boards.js';
import type { KeySpace } from './keys.js';
import { runArguments } from './run-arguments.js';
import type { ApplyCall } from './types.js';

/** An apply call as keys and arguments of lua/apply.lua, whose header gives the order. */
export function applyArguments(keys: KeySpace, call: ApplyCall): [number, ...(string | number)[]] {
  const { shard, partition } = call;
  const run = runArguments(keys, call);
  const allKeys = [
    keys.live(shard),
    keys.appliedOffsets(shard),
    keys.published(shard),
    keys.outbox(shard, partition),
    keys.continuity(shard),
    keys.recoveryTargets(shard),
    keys.records(shard),
    ...run.keys,
  ];
  return [
    allKeys.length,
    ...allKeys,
    partition,
    call.believed,
    call.published,
    call.from,
    call.through,
    call.continuity,
    recordText(call.lastRecord),
    call.version,
    ...run.arguments,
  ];
}
