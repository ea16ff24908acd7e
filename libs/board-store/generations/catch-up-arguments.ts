import { runArguments } from '../apply/run-arguments.js';
import type {
  AppliedOffset,
  CatchUpOutcome,
  ComparisonCursor,
  ComparisonStep,
  ComparisonWalk,
  Difference,
  Lease,
  PromoteOptions,
  RankingCursor,
  RankingStep,
  Shadow,
  ShadowRefusal,
  Stretch,
} from '../layout/generation-types.js';
import type { KeySpace } from '../layout/keys.js';
import { TIE_SIGNS } from '../layout/ties.js';
import type { Named } from '../lua/argument-order.js';
import { refusalOf, rowsOf, type CatchUpReply, type RankReply } from '../lua/scripts.js';

/** The place that a catch-up call writes to: the shadow of a board, and the lease of the board. */
export interface ShadowPlace {
  readonly keys: KeySpace;
  readonly shard: number;
  readonly lease: Lease;
  readonly shadow: Shadow;
}

/**
 * The keys and arguments of a script that includes lua/includes/catch-up.lua. `ending` has those
 * that only this script takes.
 */
export function catchUpArguments(
  { keys, shard, lease, shadow }: ShadowPlace,
  stretches: readonly Stretch[],
  ending: Named = {},
): Named {
  const { board, generation } = shadow;
  const boards = new Map([[board, shadow]]);
  const runs = stretches.map(({ partition, from, through, entries }) => {
    const run = runArguments(keys, { shard, partition, boards, entries });
    return { keys: run.keys, arguments: [partition, from, through, ...run.arguments] };
  });
  return {
    ...ending,
    lease: keys.lease(shard, board),
    shadows: keys.shadows(shard),
    appliedOffsets: keys.appliedOffsets(shard),
    shadowAppliedOffsets: keys.appliedOffsetsOf(shard, generation),
    stretchKeys: runs.flatMap((run) => run.keys),
    token: lease.token,
    board,
    generation,
    stretchCount: stretches.length,
    stretches: runs.flatMap((run) => run.arguments),
  };
}

/**
 * Reads a reply. `ending` of the outcome has the words that the script adds once the shadow is
 * caught up.
 */
export function catchUpOutcome(reply: CatchUpReply): CatchUpOutcome<string[]> {
  if (!Array.isArray(reply)) return { status: refusalOf(reply) as ShadowRefusal };

  const [caughtUp, partitionCount, ...words] = reply.map(String);
  const endingFrom = 3 * Number(partitionCount);
  const appliedOffsets = new Map<number, AppliedOffset>();
  for (const [partition, shadow, live] of rowsOf(words.slice(0, endingFrom), 3))
    appliedOffsets.set(Number(partition), { shadow: Number(shadow), live: Number(live) });

  if (caughtUp !== '1') return { status: 'applied', appliedOffsets };
  return { status: 'applied', appliedOffsets, ending: words.slice(endingFrom) };
}

/**
 * The keys and arguments that only lua/commands/promote-13.lua takes. `live` is the live
 * generation.
 */
export function promotionEnding(
  { keys, shard, shadow }: ShadowPlace,
  live: string,
  { graceMs, takenOver = {} }: PromoteOptions,
): Named {
  return {
    live: keys.live(shard),
    promotions: keys.promotions(shard),
    previous: keys.previous(shard),
    discarded: keys.discarded(shard),
    removed: keys.removed(shard),
    shadowFacts: keys.facts(shard, shadow.generation),
    liveFacts: keys.facts(shard, live),
    previousAppliedOffsets: keys.appliedOffsetsOf(shard, live),
    leaders: keys.leaders(shard, shadow.board),
    believedLive: live,
    graceMs,
    leaderCount: shadow.definition.publish.leaders,
    takenOver: JSON.stringify(takenOver),
  };
}

/** The walks over each view that both generations have. */
const WALKS_OF_VIEW = ['players', 'extraPlayers', 'ranking'] as const;

export function beginComparison(
  { definition }: Shadow,
  stretches: readonly Stretch[],
): ComparisonCursor {
  const rest = [beginWalk('extraViews'), beginWalk('bans'), beginWalk('extraBans')];
  if (definition.deduplicateMs !== undefined)
    for (const { partition } of stretches) rest.push(beginWalk('eventIds', String(partition)));
  return { server: '', walk: beginWalk('views'), rest };
}

/**
 * The keys and arguments that only lua/commands/compare-generations-16.lua takes. `live` is the
 * live generation.
 */
export function comparisonEnding(
  { keys, shard, shadow }: ShadowPlace,
  live: string,
  { server, walk }: ComparisonCursor,
): Named {
  const { generation, definition } = shadow;
  const itemsOf = (id: string) => {
    if (walk.over === 'eventIds') return keys.eventIds(shard, id, Number(walk.name));
    if (walk.over === 'bans' || walk.over === 'extraBans') return keys.bans(shard, id);
    return keys.players(shard, id, walk.name);
  };
  return {
    live: keys.live(shard),
    shadowViews: keys.views(shard, generation),
    shadowExpiries: keys.expiries(shard, generation),
    shadowFacts: keys.facts(shard, generation),
    shadowBans: keys.bans(shard, generation),
    liveViews: keys.views(shard, live),
    liveExpiries: keys.expiries(shard, live),
    liveFacts: keys.facts(shard, live),
    liveBans: keys.bans(shard, live),
    shadowItems: itemsOf(generation),
    liveItems: itemsOf(live),
    liveRanking: keys.ranking(shard, live, walk.name),
    believedLive: live,
    server,
    walk: walk.over,
    cursor: walk.cursor,
    viewOrPartition: walk.name,
    columnCount: definition.columns.length,
    tieSign: TIE_SIGNS[definition.ties],
    span: definition.deduplicateMs ?? '-',
  };
}

/**
 * Reads the words that lua/commands/compare-generations-16.lua adds to a reply. The first argument
 * is the cursor of the call.
 */
export function readComparison(
  { walk, rest }: ComparisonCursor,
  ending: readonly string[],
): ComparisonStep {
  const [server = '', expected, found, cursor = '0', count, viewCount, ...words] = ending;
  const compared = Number(count);
  const views = words.slice(0, Number(viewCount)).sort();
  const differences = rowsOf(words.slice(views.length), 5);

  const walks: ComparisonWalk[] = [];
  for (const view of views) {
    for (const over of WALKS_OF_VIEW) walks.push(beginWalk(over, view));
  }
  if (cursor !== '0') walks.push({ ...walk, cursor });
  walks.push(...rest);
  const step: ComparisonStep = {
    compared,
    places: walk.over === 'players' ? compared : 0,
    views: views.length,
    differences: differences.map((row) => readDifference(walk, row)),
    tooManyViews: { expected: Number(expected), found: Number(found) },
  };

  const [nextWalk, ...others] = walks;
  if (nextWalk === undefined) return step;
  return { ...step, next: { server, walk: nextWalk, rest: others } };
}

function beginWalk(over: ComparisonWalk['over'], name = ''): ComparisonWalk {
  return { over, name, cursor: '0' };
}

/** In the row of a difference, an empty word stands for a missing one. */
function readDifference(walk: ComparisonWalk, row: readonly string[]): Difference {
  const [kind, view = '', playerId, expected, found] = row;
  const difference: { -readonly [Field in keyof Difference]: Difference[Field] } = {
    view,
    kind: kind as Difference['kind'],
  };
  if (kind === 'eventIds') difference.partition = Number(walk.name);
  if (playerId) difference.playerId = playerId;
  if (expected) difference.expected = expected;
  if (found) difference.found = found;
  return difference;
}

export const BEGIN_RANKING: RankingCursor = {
  server: '',
  views: [],
  playersCursor: '0',
  viewsCursor: '0',
};

/**
 * Reads a reply of lua/commands/rank-shadow-4.lua. The first argument is the cursor of the call.
 */
export function readRanking(cursor: RankingCursor, reply: RankReply): RankingStep {
  const [server, playersCursor, players, viewsDone, nextViewsCursor, found] = reply;
  if (cursor.views.length > 0) {
    const views = cursor.views.slice(viewsDone);
    return { players, next: { ...cursor, views, playersCursor } };
  }

  // The step ranked no players: it found views. The reply has their versions, too.
  const views = rowsOf(found, 2).map(([view = '']) => view);
  const viewsCursor = nextViewsCursor === '0' ? '' : nextViewsCursor;
  return { players, next: { server, views, playersCursor, viewsCursor } };
}
