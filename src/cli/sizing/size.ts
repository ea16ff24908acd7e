import { KeySpace, SLOTS } from '#board-store';
import { MOST_SHARDS } from '../../config/settings-formats.js';
import { FULL_CALL, UPDATE_WITH_RANKS, UPDATES_OF_A_VIEW } from '../../ingest/split-calls.js';
import { COSTS, MEASURED_ID_BYTES, PLAYER, PROCESS_BYTES, SLOWDOWN, type Cost } from './costs.js';

export interface Load {
  readonly eventsPerSecond: number;
  /** On all boards together: a player of two boards counts twice. */
  readonly players: number;
  readonly boards: number;
  /** How many views an event changes. */
  readonly views: number;
  /** The mean length of the ids of players. */
  readonly idBytes: number;
  /** Bytes of memory that one Redis may use. */
  readonly nodeMemory: number;
  /** Default: enough for twice as many processes. */
  readonly partitions?: number | undefined;
  /** Default: 1 for one Redis, 64 or more for a cluster. */
  readonly shards?: number | undefined;
}

/**
 * What a load needs. CPU is in us, sizes are in bytes. `received`, `sent`, `written`, and the sizes
 * in `kafka`, are per event.
 */
export interface Size {
  readonly processes: {
    readonly count: number;
    readonly cpuPerEvent: number;
    readonly memory: number;
  };
  readonly partitions: number;
  readonly redis: {
    /** Primaries: their replicas come on top. */
    readonly nodes: number;
    readonly shards: number;
    readonly cpuPerEvent: number;
    readonly callsPerEvent: number;
    readonly received: number;
    readonly sent: number;
    /** To the append-only file, and to each replica. */
    readonly written: number;
    readonly memory: number;
    /** While all boards are built again. */
    readonly peakMemory: number;
    /** Of the busiest node. */
    readonly nodeMemory: number;
    readonly nodePeakMemory: number;
  };
  readonly kafka: { readonly event: number; readonly result: number };
  /** The most of one board, which lives on one Redis. */
  readonly board: { readonly eventsPerSecond: number; readonly players: number };
  /** What can't work as asked, and the way out. */
  readonly problems: readonly string[];
}

/** Half of each core is left, so that ranklog can catch up after an outage while events come. */
const USE = 0.5;
/** Which slots the shards are in. Another prefix has others, with much the same spread. */
const KEYS = new KeySpace('ranklog');
/** A build makes a second generation beside the live one. */
const GENERATIONS = 2;
const PARTITIONS_PER_PROCESS = 2;
/** A Redis Cluster needs three primaries to survive the loss of one. */
const LEAST_NODES = 3;
const LEAST_SHARDS = 64;
const SHARDS_PER_NODE = 16;
/** Of a full transaction. A shard without records gets one call for each transaction. */
const EVENTS_OF_TRANSACTION = 2_000;
/** Powers of ten of players times views on one Redis: the bounds of the interpolation. */
const FEW = 4;
const MILLION = 6;

/**
 * What a load needs if all boards have equally many players and events, each event is published,
 * and the batches are full, as they are when ranklog has all the work that it can do.
 */
export function sizeOf(load: Load): Size {
  const nodes = nodesOf(load);
  const shards = shardsOf(load, nodes);
  const work = workOf(load, shards);
  const cpu = costOf(work, COSTS['CPU of processes']);
  const processes = Math.max(1, Math.ceil((load.eventsPerSecond * cpu) / 1e6 / USE));
  const memory = memoryOf(load);
  const ofBusiest = shareOfBusiest(nodes, shards, load.boards);
  const size = {
    processes: { count: processes, cpuPerEvent: cpu, memory: PROCESS_BYTES },
    partitions: load.partitions ?? PARTITIONS_PER_PROCESS * processes,
    redis: {
      nodes,
      shards,
      cpuPerEvent: redisCpuOf(load, nodes),
      callsPerEvent: work.calls,
      received: costOf(work, COSTS['to Redis']),
      sent: costOf(work, COSTS['from Redis']),
      written: costOf(work, COSTS['append-only file'], load.views),
      memory,
      peakMemory: GENERATIONS * memory,
      nodeMemory: ofBusiest * memory,
      nodePeakMemory: ofBusiest * GENERATIONS * memory,
    },
    kafka: {
      event: costOf(work, COSTS['event in Kafka']),
      result: costOf(work, COSTS['result in Kafka']),
    },
    board: limitsOfBoard(load),
  };
  return { ...size, problems: problemsOf(load, size) };
}

/** One Redis if it is enough, else the smallest cluster that is. */
function nodesOf(load: Load): number {
  if (neededNodes(load, 1) <= 1) return 1;
  // A node without a shard, or without a board, would have no work.
  const most = Math.max(LEAST_NODES, Math.min(load.shards ?? MOST_SHARDS, load.boards));
  let nodes = LEAST_NODES;
  while (nodes < most && neededNodes(load, nodes) > nodes) nodes++;
  return nodes;
}

/** How many nodes CPU and memory need, if the load is spread over `nodes`. */
function neededNodes(load: Load, nodes: number): number {
  const byCpu = (load.eventsPerSecond * redisCpuOf(load, nodes)) / 1e6 / USE;
  const byMemory = (GENERATIONS * memoryOf(load)) / load.nodeMemory;
  const ofBusiest = shareOfBusiest(nodes, shardsOf(load, nodes), load.boards);
  return ofBusiest * nodes * Math.max(byCpu, byMemory);
}

function shardsOf({ shards }: Load, nodes: number): number {
  if (shards !== undefined) return shards;
  if (nodes === 1) return 1;
  return Math.min(MOST_SHARDS, Math.max(LEAST_SHARDS, SHARDS_PER_NODE * nodes));
}

/**
 * The part of the load that the busiest node of a cluster has, with slots in equal ranges. Shards
 * fall at random into the slots, and boards into the shards: the number of boards of a node spreads
 * by the square root of its mean, and one standard deviation is added.
 */
export function shareOfBusiest(nodes: number, shards: number, boards: number): number {
  if (nodes === 1) return 1;
  const shardsByNode = Array<number>(nodes).fill(0);
  for (let shard = 0; shard < shards; shard++) {
    const node = Math.floor((KEYS.slot(shard) * nodes) / SLOTS);
    shardsByNode[node] = (shardsByNode[node] ?? 0) + 1;
  }
  const shares = shardsByNode.map((ofNode) => {
    const share = ofNode / shards;
    return share + Math.sqrt((share * (1 - share)) / boards);
  });
  return Math.min(1, Math.max(1 / boards, ...shares));
}

function memoryOf({ players, views, idBytes }: Load): number {
  return players * views * (PLAYER.bytes + PLAYER.idByte * (idBytes - MEASURED_ID_BYTES));
}

function redisCpuOf(load: Load, nodes: number): number {
  const work = workOf(load, shardsOf(load, nodes));
  const cpu = costOf(work, COSTS['CPU of Redis']);
  return cpu * slowdownOf((load.players * load.views) / nodes);
}

/**
 * How many times as much CPU Redis takes per event if it has so many players and views, because it
 * waits for memory. Interpolated by powers of ten.
 */
function slowdownOf(entries: number): number {
  const { atMillion, atTenMillion } = SLOWDOWN;
  const power = Math.log10(entries);
  if (power <= FEW) return 1;
  if (power <= MILLION) return 1 + ((atMillion - 1) * (power - FEW)) / (MILLION - FEW);
  return atMillion + (atTenMillion - atMillion) * (power - MILLION);
}

/** What ranklog does per event, with full batches. */
interface Work {
  readonly calls: number;
  readonly boardsInCalls: number;
  readonly furtherViews: number;
  /** How much longer an id is than in the measurements. */
  readonly furtherIdBytes: number;
}

function workOf({ boards, views, idBytes }: Load, shards: number): Work {
  const events = eventsOfRun(boards, views);
  const shardsWithBoards = distinct(shards, boards);
  const called = distinct(shardsWithBoards, events);
  return {
    calls: called / events + (shards - called) / EVENTS_OF_TRANSACTION,
    boardsInCalls: distinct(boards, events) / events,
    furtherViews: views - 1,
    furtherIdBytes: idBytes - MEASURED_ID_BYTES,
  };
}

/** The cost of an event that contains the id of its player `ids` times. */
function costOf(work: Work, cost: Cost, ids = 1): number {
  const ofBoard = cost.boardInCall + cost.viewInCall * work.furtherViews;
  return (
    cost.event +
    cost.furtherView * work.furtherViews +
    ofBoard * work.boardsInCalls +
    cost.call * work.calls +
    cost.idByte * ids * work.furtherIdBytes
  );
}

/**
 * How many events fit into a run. As in CallWork, each update has a cost, and each view has a
 * further cost once per run.
 */
function eventsOfRun(boards: number, views: number): number {
  const updatesOf = (events: number) =>
    UPDATE_WITH_RANKS * views * events + UPDATES_OF_A_VIEW * views * distinct(boards, events);
  let events = FULL_CALL.entries;
  while (events > 1 && updatesOf(events) > FULL_CALL.viewUpdates) events--;
  return events;
}

/** How many of `places` get something if so many `things` fall into them at random. */
function distinct(places: number, things: number): number {
  return places * (1 - (1 - 1 / places) ** things);
}

function limitsOfBoard(load: Load): Size['board'] {
  const board = { ...load, boards: 1, shards: 1, players: load.players / load.boards };
  return {
    eventsPerSecond: (1e6 * USE) / redisCpuOf(board, 1),
    players: (board.players * load.nodeMemory) / (GENERATIONS * memoryOf(board)),
  };
}

function problemsOf(load: Load, { processes, partitions, redis, board }: Omit<Size, 'problems'>) {
  const severalBoards = 'make several boards of it, for example one for each region or league';
  const problems: string[] = [];
  if (load.eventsPerSecond / load.boards > board.eventsPerSecond)
    problems.push(`a board has more events than one Redis applies: ${severalBoards}`);
  if (load.players / load.boards > board.players)
    problems.push(`a board has more players than fit into one Redis: ${severalBoards}`);
  const isOneBoard = problems.length > 0; // more primaries don't help it
  if (partitions < processes.count)
    problems.push(`${processes.count} processes need as many partitions, not ${partitions}`);
  if (!isOneBoard && neededNodes(load, redis.nodes) > redis.nodes) {
    const wayOut = load.shards === undefined ? 'run several ranklogs' : 'use more shards';
    problems.push(
      `RANKLOG_SHARDS ${redis.shards} can't spread it over enough Redis primaries: ${wayOut}`,
    );
  }
  return problems;
}
