import type { Redis } from 'ioredis';
import {
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
import { requireTopics } from '../infra/topics.js';
import type { RecentDeadLetters } from './dead-letters.js';
import { readPositions } from './positions.js';

/** The state of a ranklog for those who operate it, as `ranklog status --json` prints it. Times are RFC 3339. */
export type Status = ReturnType<typeof statusOf>;

/** The part that Kafka knows. @throws TopicsMissingError, errors of Kafka */
export async function readLog(
  clients: Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>,
  { group }: Pick<Settings, 'group'>,
  letters: RecentDeadLetters,
) {
  const { admin, topics } = clients;
  await requireTopics(admin, [topics.scoreEvents, topics.deadLetters]);
  const [positions, deadLetters] = await Promise.all([
    readPositions(clients, { topic: topics.scoreEvents, group }),
    letters.counts(),
  ]);
  return { positions, deadLetters };
}

/** The part that Redis knows. Cost: up to twenty requests per shard, three per board, and one per running reconciliation. */
export async function readStore(redis: Redis, keys: KeySpace) {
  const status = new StoreStatus(redis, keys);
  const shards = await status.shards();
  const [appliedOffsets, boards, generations, recovering, { building }, reconciliations] =
    await Promise.all([
      status.appliedOffsets(),
      status.overviews(),
      new GenerationCatalog(redis, keys, { shards }).generations(),
      status.recoveryTargets(),
      status.boards(),
      new LeaseStore(redis, keys, { shards }).statuses(),
    ]);
  return { appliedOffsets, boards, generations, recovering, building, reconciliations };
}

/** Joins both parts. */
export function statusOf(
  { positions, deadLetters }: Awaited<ReturnType<typeof readLog>>,
  { appliedOffsets, recovering, ...store }: Awaited<ReturnType<typeof readStore>>,
) {
  const generations = store.generations.map(generationJson);
  return {
    partitions: positions.map((position) => {
      return { ...position, applied: appliedOffsets.get(position.partition) ?? 0 };
    }),
    boards: store.boards.map(({ clock, ...board }) => ({ ...board, clock: timeText(clock) })),
    generations,
    recovering,
    building: [...store.building].sort(),
    partialHistory: generations.flatMap(({ board, generation, role, startsAt }) =>
      role === 'live' && startsAt !== null ? [{ board, generation, startsAt }] : [],
    ),
    reconciliations: store.reconciliations.map(reconciliationJson),
    deadLetters,
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
