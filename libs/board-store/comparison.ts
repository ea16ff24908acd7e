import type { EndingArguments, ShadowPlace } from './catch-up-arguments.js';
import type {
  CompareResult,
  CompareStep,
  CompareViewsStep,
  Difference,
  TooManyViews,
} from './generation-types.js';
import { rowsOf } from './rows.js';
import { TIE_SIGNS } from './run-arguments.js';

/** The ending of lua/compare-views.lua; of these partitions, what deduplicate remembers is compared, too. */
export function viewsEnding(
  { keys, shard, shadow }: ShadowPlace,
  live: string,
  {
    server = '',
    walk,
    cursor,
    partitions,
  }: CompareViewsStep & { readonly partitions: readonly number[] },
): EndingArguments {
  const { generation, definition } = shadow;
  const { deduplicateMs } = definition;
  const remembered = deduplicateMs === undefined ? [] : partitions;
  const ofGeneration = (generation: string) => [
    keys.views(shard, generation),
    keys.expiries(shard, generation),
    keys.facts(shard, generation),
  ];
  return {
    keys: [
      ...ofGeneration(generation),
      ...ofGeneration(live),
      ...remembered.flatMap((partition) => [
        keys.eventIds(shard, generation, partition),
        keys.eventIds(shard, live, partition),
      ]),
    ],
    arguments: [live, server, deduplicateMs ?? '-', walk, cursor, ...remembered],
  };
}

/** Some of the views to walk, or how many event ids were looked at; and where the boards as a whole differ. */
export interface ComparedViews {
  /** Replication id of the server that has the board: another one after a restart, or when a replica took over. */
  readonly server: string;
  readonly cursor: string;
  readonly views: readonly string[];
  /** How many event ids were looked at. */
  readonly eventIds: number;
  readonly differences: readonly Difference[];
  /** Where events were refused for `maxViews`, nothing can be told from differences. */
  readonly tooManyViews: TooManyViews;
}

/** What lua/compare-views.lua adds. */
export function readViews(
  walk: CompareViewsStep['walk'],
  [
    server = '',
    expectedClock = '',
    clock = '',
    expectedRefusals,
    refusals,
    count = '0',
    ...words
  ]: readonly string[],
): ComparedViews {
  const ofPartitions = 3 * Number(count);
  const differences = rowsOf(words.slice(0, ofPartitions), 3).map(forgottenIds);
  if (expectedClock !== clock)
    differences.push({ view: '', kind: 'clock', ...texts(expectedClock, clock) });
  const [cursor = '0', ...rest] = words.slice(ofPartitions);
  const walked = walk === 'eventIds' ? readEventIds(rest) : readSomeViews(rest);
  differences.push(...walked.differences);
  const tooManyViews = { expected: Number(expectedRefusals), found: Number(refusals) };
  return { server, cursor, ...walked, differences, tooManyViews };
}

type Walked = Pick<ComparedViews, 'views' | 'eventIds' | 'differences'>;

function readSomeViews(words: readonly string[]): Walked {
  const views: string[] = [];
  const differences: Difference[] = [];
  for (const [view = '', expected = '', found = ''] of rowsOf(words, 3)) {
    if (expected !== '' && found !== '') views.push(view);
    if (expected !== found) differences.push({ view, kind: 'view', ...texts(expected, found) });
  }
  return { views: views.sort(), eventIds: 0, differences };
}

function readEventIds([count, ...words]: readonly string[]): Walked {
  return { views: [], eventIds: Number(count), differences: rowsOf(words, 4).map(otherId) };
}

/** The ending of lua/compare-players.lua. */
export function playersEnding(
  { keys, shard, shadow }: ShadowPlace,
  live: string,
  { server, view, walk, cursor }: CompareStep,
): EndingArguments {
  const { columns, ties } = shadow.definition;
  return {
    keys: [
      keys.players(shard, shadow.generation, view),
      keys.players(shard, live, view),
      keys.ranking(shard, live, view),
    ],
    arguments: [live, server, walk, cursor, columns.length, TIE_SIGNS[ties]],
  };
}

/** What lua/compare-players.lua adds. */
export function readPlayers(
  view: string,
  [cursor = '0', players, ...words]: readonly string[],
): CompareResult {
  const differences = rowsOf(words, 4).map(([kind, playerId = '', expected = '', found = '']) => ({
    view,
    kind: kind as Difference['kind'],
    playerId,
    ...texts(expected, found),
  }));
  return { cursor, players: Number(players), differences };
}

function forgottenIds([partition = '', expected = '', found = '']: readonly string[]): Difference {
  const told = (text: string) => {
    const [clock = '', ids] = text.split(' ');
    return `partition ${partition}: ${ids === undefined ? 'nothing' : `${ids} ids, up to ${clock} ms`}`;
  };
  const texts = { expected: told(expected), found: told(found) };
  return { view: '', kind: 'eventIds', partition: Number(partition), ...texts };
}

function otherId([
  partition = '',
  id = '',
  expected = '',
  found = '',
]: readonly string[]): Difference {
  const [eventId, playerId] = id.split('\n');
  const told = (time: string) =>
    `partition ${partition}: "${eventId}" of ${playerId} ${time === '' ? 'not there' : `at ${time} ms`}`;
  const texts = { expected: told(expected), found: told(found) };
  return { view: '', kind: 'eventIds', partition: Number(partition), ...texts };
}

function texts(expected: string, found: string): Pick<Difference, 'expected' | 'found'> {
  return { ...(expected === '' ? {} : { expected }), ...(found === '' ? {} : { found }) };
}
