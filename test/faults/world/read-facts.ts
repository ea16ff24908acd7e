import { closeOf, parseBoardsFile, parseView, type BoardDefinition } from '#board';
import { BoardReader, StoreStatus, shardOf, type BanEntry, type LiveBoard } from '#board-store';
import {
  decodeDefinitionRecord,
  decodePeriodResult,
  isOfBoard,
  PERIOD_CLOSED_TYPE,
} from '#contracts';
import { readPeriodRecords } from '../../../src/reconciliation/periods/period-log.js';
import type { OracleBytes } from '../../model/oracle.js';
import { readBytes } from '../../model/store-keys.js';
import {
  consoleHeaders,
  idIn,
  readCommitted,
  readDeadLetters,
  readLeaderChanges,
  readRankChanges,
} from '../../support/results.js';
import { BOARD_NAMES, boardsFile } from '../boards.js';
import type { AnnouncementFact, ConsoleIds, RunFacts } from '../check/facts.js';
import { eventually } from '../../support/eventually.js';
import type { World } from './world.js';

const KNOWN = [boardsFile(), boardsFile(BOARD_NAMES)].flatMap((text) =>
  parseBoardsFile(text, 'boards.yaml'),
);

/**
 * Reads the facts of a run, after the load has ended and everything is published. `sent`: the
 * contents that it sent.
 */
export async function readFacts(world: World, sent: RunFacts['sent']): Promise<RunFacts> {
  const { client, topics } = world;
  const live = await new BoardReader({
    redis: world.redis.redis,
    prefix: world.keys.prefix,
  }).boards();
  const reading = Promise.all([
    readRankChanges(client, topics),
    readLeaderChanges(client, topics),
    readDeadLetters(client, topics),
    readAnnouncements(world),
  ]);
  const count = reading.then((results) => results.flat().length);
  const [log, promotions, [rankChanges, leaderChanges, letters, announcements], consoleIds] =
    await Promise.all([
      readCommitted(client, topics.scoreEvents),
      readPromotions(world),
      reading,
      readConsoleIds(world, count),
    ]);
  const deadLetters = letters.map(({ topic, partition, offset, code }) => ({
    id: `${topic}/${partition}/${offset}`,
    code,
  }));
  const definitions: BoardDefinition[] = live.map(({ definition }) => definition);
  const stored = await readStored(world, live);
  const bans = await readBans(world, log);
  const results = { rankChanges, leaderChanges, deadLetters, announcements, consoleIds };
  const { announces } = world;
  return { announces, definitions, known: KNOWN, promotions, sent, log, ...results, stored, bans };
}

/** A run ends before Kafka compacts the definitions topic, so the topic still has all records. */
export async function readPromotions({ client, topics }: World) {
  return (await readCommitted(client, topics.definitions))
    .filter(isOfBoard)
    .map((record) => decodeDefinitionRecord(record));
}

async function readAnnouncements({ client, topics }: World): Promise<AnnouncementFact[]> {
  return (await readCommitted(client, topics.periodResults)).map((record) => ({
    id: String(record.headers['ce_id']),
    timestamp: record.timestamp,
    result: decodePeriodResult(record),
  }));
}

/** The windows of a board whose results are announced, with the number of announcements. */
export async function announced(
  { client: kafka, topics }: World,
  board: string,
): Promise<Map<string, number>> {
  const records = [...(await readPeriodRecords({ kafka, topics })).values()];
  const whole = records.filter(
    (record) => record.board === board && record.view === null && record.revision > 0,
  );
  return new Map(whole.map(({ window, revision }) => [window, revision]));
}

/**
 * Waits until the results of all windows that close are announced, also of those whose players are
 * all banned.
 */
export async function allAnnounced(world: World): Promise<void> {
  const { keys, shards } = world;
  const { redis } = world.redis;
  const reader = new BoardReader({ redis, prefix: keys.prefix });
  for (const { board, generation, definition } of await reader.boards()) {
    if (!definition.windows.some(closeOf)) continue;
    const views = await redis.hkeys(keys.views(shardOf(board, shards), generation));
    const windows = new Set(views.map((view) => parseView(view).window));
    await eventually(async () => {
      const done = await announced(world, board);
      const missing = [...windows].filter((window) => !done.has(window));
      if (missing.length > 0) throw new Error(`not announced: ${missing.join(', ')}`);
      return true;
    }, `the results of the windows of ${board} are announced`);
  }
  world.note('all is announced');
}

/**
 * Waits until all shards have applied the whole log. After a loss, boards may still recover when
 * everything is published.
 */
export async function allApplied(world: World): Promise<void> {
  const ends = await world.eventEnds();
  const status = new StoreStatus(world.redis.redis, world.keys);
  await eventually(async () => {
    const applied = await status.nextOffsets();
    return [...ends].every(([partition, end]) => (applied.get(partition) ?? 0) >= end);
  }, 'every shard has applied the whole log');
}

async function readStored(
  { redis: { redis }, keys, shards }: World,
  live: readonly LiveBoard[],
): Promise<Map<string, OracleBytes>> {
  const stored = new Map<string, OracleBytes>();
  for (const board of live) {
    const place = { keys, shard: shardOf(board.board, shards), live: board };
    const views = await redis.hkeys(keys.views(place.shard, board.generation));
    for (const view of views)
      stored.set(`${board.board} ${view}`, await readBytes(redis, place, view));
  }
  return stored;
}

/** The entries of all players with a record in the log. */
async function readBans({ redis: { redis }, keys }: World, log: RunFacts['log']) {
  const reader = new BoardReader({ redis, prefix: keys.prefix });
  const players = new Set(log.map(({ key }) => String(key)));
  const bans = new Map<string, BanEntry>();
  for (const board of BOARD_NAMES)
    for (const player of players) {
      const entry = await reader.ban(board, player);
      if (entry !== null) bans.set(`${board} ${player}`, entry);
    }
  return bans;
}

/**
 * One console consumer reads the four result topics. The headers of a result show which topic it
 * comes from.
 */
async function readConsoleIds(
  { kafka, topics: { rankChanges, leaderChanges, deadLetters, periodResults } }: World,
  expected: Promise<number>,
): Promise<ConsoleIds> {
  const topics = [rankChanges, leaderChanges, deadLetters, periodResults];
  const ids: Record<keyof ConsoleIds, string[]> = {
    rankChanges: [],
    leaderChanges: [],
    deadLetters: [],
    announcements: [],
  };
  for (const headers of await consoleHeaders(topics, expected, kafka.broker)) {
    const id = idIn(headers) ?? '';
    if (headers.includes('ranklog_id:')) ids.deadLetters.push(id);
    else if (headers.includes(PERIOD_CLOSED_TYPE)) ids.announcements.push(id);
    else ids[id.includes(' ') ? 'leaderChanges' : 'rankChanges'].push(id);
  }
  return ids;
}
