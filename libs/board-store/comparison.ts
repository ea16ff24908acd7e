import type { EndingArguments, ShadowPlace } from './catch-up-arguments.js';
import type {
  ComparisonCursor,
  ComparisonStep,
  ComparisonWalk,
  Difference,
  Shadow,
  Stretch,
} from './generation-types.js';
import { rowsOf } from './rows.js';
import { TIE_SIGNS } from './run-arguments.js';

const WALKS_OF_VIEW = ['players', 'extraPlayers', 'ranking'] as const;

/** Where a comparison begins. */
export function beginComparison(
  { definition }: Shadow,
  stretches: readonly Stretch[],
): ComparisonCursor {
  const remembering = definition.deduplicateMs === undefined ? [] : stretches;
  const eventIds = remembering.map(({ partition }) => beginWalk('eventIds', String(partition)));
  return { server: '', walk: beginWalk('views'), rest: [beginWalk('extraViews'), ...eventIds] };
}

/** The ending of lua/compare-generations.lua. */
export function comparisonEnding(
  place: ShadowPlace,
  live: string,
  { server, walk }: ComparisonCursor,
): EndingArguments {
  const { keys, shard, shadow } = place;
  const { columns, ties, deduplicateMs } = shadow.definition;
  const ofGeneration = (generation: string) => [
    keys.views(shard, generation),
    keys.expiries(shard, generation),
    keys.facts(shard, generation),
  ];
  return {
    keys: [
      ...ofGeneration(shadow.generation),
      ...ofGeneration(live),
      ...keysOfWalk(place, live, walk),
    ],
    arguments: [
      ...[live, server, walk.over, walk.cursor, walk.name],
      ...[columns.length, TIE_SIGNS[ties], deduplicateMs ?? '-'],
    ],
  };
}

/** What lua/compare-generations.lua adds, for the step that went on at `cursor`. */
export function readComparison(
  { walk, rest }: ComparisonCursor,
  [server = '', expected, found, cursor = '0', count, viewCount, ...words]: readonly string[],
): ComparisonStep {
  const compared = Number(count);
  const views = words.slice(0, Number(viewCount)).sort();
  const [next, ...others] = [
    ...views.flatMap((view) => WALKS_OF_VIEW.map((over) => beginWalk(over, view))),
    ...(cursor === '0' ? [] : [{ ...walk, cursor }]),
    ...rest,
  ];
  return {
    ...(next === undefined ? {} : { next: { server, walk: next, rest: others } }),
    compared,
    places: walk.over === 'players' ? compared : 0,
    views: views.length,
    differences: rowsOf(words.slice(views.length), 5).map((row) => readDifference(walk, row)),
    tooManyViews: { expected: Number(expected), found: Number(found) },
  };
}

function beginWalk(over: ComparisonWalk['over'], name = ''): ComparisonWalk {
  return { over, name, cursor: '0' };
}

function keysOfWalk(
  { keys, shard, shadow: { generation } }: ShadowPlace,
  live: string,
  { over, name }: ComparisonWalk,
): string[] {
  if (over === 'views' || over === 'extraViews') return [];
  if (over === 'eventIds')
    return [generation, live].map((of) => keys.eventIds(shard, of, Number(name)));
  return [
    keys.players(shard, generation, name),
    keys.players(shard, live, name),
    keys.ranking(shard, live, name),
  ];
}

function readDifference(
  { name }: ComparisonWalk,
  [kind, view = '', playerId, expected, found]: readonly string[],
): Difference {
  return {
    view,
    kind: kind as Difference['kind'],
    ...(kind === 'eventIds' && { partition: Number(name) }),
    ...(playerId && { playerId }),
    ...(expected && { expected }),
    ...(found && { found }),
  };
}
