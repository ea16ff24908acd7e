import type { Redis } from 'ioredis';
import {
  ContinuityStore,
  GenerationCatalog,
  LeaseStore,
  StoreStatus,
  type GenerationOverview,
  type KeySpace,
} from '#board-store';
import { formatTime } from '#contracts';
import type { Settings } from '../config/settings.js';
import { reconciliationJson } from '../generations/reconciliation-json.js';
import type { KafkaConnection } from '../infra/kafka.js';
import { countDeadLetters } from './dead-letters.js';
import { readPositions } from './positions.js';

/** The state of a ranklog for those who operate it, as `ranklog status --json` prints it. Times are RFC 3339. */
export type Status = Awaited<ReturnType<typeof readStatus>>;

/** The part that Kafka knows. @throws errors of Kafka */
export async function readLog(
  clients: Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>,
  { group }: Pick<Settings, 'group'>,
) {
  const { scoreEvents, deadLetters } = clients.topics;
  const [positions, letters] = await Promise.all([
    readPositions(clients, { topic: scoreEvents, group }),
    countDeadLetters(clients, deadLetters),
  ]);
  return { positions, letters };
}

async function readStore(redis: Redis, keys: KeySpace) {
  const status = new StoreStatus(redis, keys);
  const shards = await status.shards();
  return Promise.all([
    status.appliedOffsets(),
    status.overviews(),
    new GenerationCatalog(redis, keys, { shards }).generations(),
    new ContinuityStore(redis, keys, { shards }).recoveryTargets(),
    status.boards(),
    new LeaseStore(redis, keys, { shards }).statuses(),
  ]);
}

/** Joins what Redis knows with `log`. Cost: twenty requests to each shard, three for each board. @throws what `log` rejects with */
export async function readStatus(redis: Redis, keys: KeySpace, log: ReturnType<typeof readLog>) {
  const [{ positions, letters }, store] = await Promise.all([log, readStore(redis, keys)]);
  const [appliedOffsets, overviews, found, recovering, { building }, reconciliations] = store;
  const generations = found.map(generationJson);
  return {
    partitions: positions.map((position) => {
      return { ...position, applied: appliedOffsets.get(position.partition) ?? 0 };
    }),
    boards: overviews.map(({ clock, ...board }) => ({ ...board, clock: timeText(clock) })),
    generations,
    recovering,
    building: [...building].sort(),
    partialHistory: generations.flatMap(({ board, generation, role, startsAt }) =>
      role === 'live' && startsAt !== null ? [{ board, generation, startsAt }] : [],
    ),
    reconciliations: reconciliations.map(reconciliationJson),
    deadLetters: letters,
  };
}

/** A generation as `ranklog boards generations --json` prints it. */
export function generationJson(overview: GenerationOverview) {
  const { board, generation, role, starts, since, keptUntil, asOf } = overview;
  return {
    board,
    generation,
    role,
    since: timeText(since),
    keptUntil: timeText(keptUntil),
    asOf: timeText(asOf),
    startsAt: starts === undefined ? null : Object.fromEntries(starts),
  };
}

/** A time in ms as RFC 3339; null if there is none. */
function timeText(ms: number | null | undefined): string | null {
  return ms === undefined || ms === null ? null : formatTime(ms);
}
