import { shardOf } from '#board-store';
import { PERIODS_LEASE } from '../../../src/reconciliation/periods/period-services.js';
import { eventually } from '../../support/eventually.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import type { RedisNode } from '../../support/redis-node.js';
import { BOARD_NAMES } from '../boards.js';
import { below, pick, type Random } from '../random.js';
import type { World } from '../world/world.js';
import type { Fault } from './fault.js';
import { microsecondsOf } from './servers.js';

/** Faults of a cluster under load, and of a primary with sentinels. */

/** @throws unless Redis is a cluster */
function clusterOf({ group }: World): RedisCluster {
  if (group instanceof RedisCluster) return group;
  throw new Error('Redis is not a cluster');
}

/** The slot of a shard that has a board, or the lease of the announcer. */
async function someSlot(world: World, random: Random): Promise<number> {
  const shard = shardOf(pick(random, [...BOARD_NAMES, PERIODS_LEASE]), world.shards);
  return clusterOf(world).slotOf(world.keys.appliedOffsets(shard));
}

/** What can make servers promote a replica, and how it ends. */
const OUTAGES = {
  kill: {
    done: 'killed',
    harm: (node: RedisNode) => node.kill(),
    repair: (node: RedisNode) => node.restart(),
  },
  freeze: {
    done: 'frozen',
    harm: (node: RedisNode) => node.freeze(),
    repair: (node: RedisNode) => node.resume(),
  },
  /** Workers still reach the node. */
  cutOff: {
    done: 'cut off',
    harm: (node: RedisNode, group: World['group']) => group.cutOff(node),
    repair: (node: RedisNode, group: World['group']) => group.rejoin(node),
  },
} as const;

/**
 * Keeps the replicas of a primary from getting the records that are published from now on; returns
 * how many.
 */
async function lag(world: World, random: Random, { redis }: RedisNode): Promise<number> {
  const behind = 1 + below(random, 100);
  await redis.call('ACL', 'SETUSER', 'default', '-psync', '-sync');
  await redis.client('KILL', 'TYPE', 'replica');
  await world.publishedMore(behind);
  return behind;
}

/** Undoes `lag` on a server that is back. */
async function endLag({ redis }: RedisNode): Promise<void> {
  await redis.call('ACL', 'SETUSER', 'default', '+psync', '+sync');
}

/**
 * Kills, freezes or cuts off a primary until its replica has taken over; then it comes back as a
 * replica. It has acknowledged writes that the replica lacks.
 */
function outage(how: keyof typeof OUTAGES): Fault['run'] {
  const { done } = OUTAGES[how];
  return async (world, random) => {
    const { group } = world;
    await pick(random, world.running).publishes();
    const [old, promoted] =
      group instanceof RedisCluster
        ? await outageOfNode(world, random, how)
        : await outageOfPrimary(world, random, how);
    world.did(`primaries ${done}`, `the primary at ${old} was ${done}; ${promoted} replaced it`);
  };
}

/** @returns the ports of the old and the new primary */
async function outageOfNode(world: World, random: Random, how: keyof typeof OUTAGES) {
  const cluster = clusterOf(world);
  const primary = await cluster.primaryOf(await someSlot(world, random));
  const replica = await cluster.replicaOf(primary);
  const behind = await lag(world, random, primary);
  await OUTAGES[how].harm(primary, cluster);
  world.recordLoss();
  await cluster.promoted(replica);
  world.note(`the node at ${replica.port} is promoted, ${behind} records behind`);
  if (random() < 0.5) await world.publishedEverywhere();
  await OUTAGES[how].repair(primary, cluster);
  await endLag(primary);
  await eventually(
    async () => (await cluster.replicaOf(replica)) === primary,
    `the node at ${primary.port} is a replica`,
  );
  if (how === 'freeze') world.recordLoss(); // what it did before it learned of its new role
  return [primary.port, replica.port] as const;
}

/**
 * A server that is back is a primary until the sentinels demote it, so it comes back after all
 * workers have left it: ranklog relies on one primary at a time. All workers use a server that is
 * cut off until it is demoted.
 */
async function outageOfPrimary(world: World, random: Random, how: keyof typeof OUTAGES) {
  const { group } = world;
  if (group instanceof RedisCluster) throw new Error('Redis has no sentinels');
  let old: RedisNode | undefined;
  await eventually(async () => (old = await group.primary()) !== undefined, 'sentinels agree');
  const behind = await lag(world, random, old!);
  const failover = group.failOver((node) => OUTAGES[how].harm(node, group));
  if (how !== 'cutOff') world.recordLoss();
  const promoted = await failover;
  world.note(
    `the sentinels have promoted the server at ${promoted.port}, ${behind} records behind`,
  );
  await world.publishedEverywhere();
  await OUTAGES[how].repair(old!, group);
  await endLag(old!);
  if (how === 'cutOff') world.recordLoss(await demote(old!, promoted));
  await group.demoted(old!);
  return [old!.port, promoted.port] as const;
}

/** Makes a server a replica and closes its connections, as sentinels do; returns its time in us. */
async function demote({ redis }: RedisNode, { port }: RedisNode): Promise<number> {
  const commands = redis.multi().time().replicaof('127.0.0.1', port);
  const [time] = (await commands.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes').exec()) ?? [];
  return microsecondsOf(time?.[1]);
}

/** A primary gives way to its replica, and nothing is lost. */
async function switchOver(world: World, random: Random): Promise<void> {
  const cluster = clusterOf(world);
  const primary = await cluster.primaryOf(await someSlot(world, random));
  const replica = await cluster.replicaOf(primary);
  await cluster.failOver(replica);
  world.did('switches of roles', `the node at ${replica.port} has replaced its primary`);
}

/** Moves the slot of a shard key by key; halfway, its scripts fail until the other keys follow. */
async function moveSlot(world: World, slot: number, to: RedisNode): Promise<void> {
  const logged = () => world.running.reduce((sum, worker) => sum + worker.count('a slot moves'), 0);
  await clusterOf(world).moveSlot(slot, to, async () => {
    const before = logged();
    await eventually(() => logged() > before, 'a worker logs that a slot moves');
  });
  world.did('slots moved', `slot ${slot} has moved to the node at ${to.port}`);
}

async function moveToPrimary(world: World, random: Random): Promise<void> {
  const cluster = clusterOf(world);
  const slot = await someSlot(world, random);
  const from = await cluster.primaryOf(slot);
  const roles = await Promise.all(cluster.nodes.map((node) => node.isPrimary()));
  const others = cluster.nodes.filter((node, index) => roles[index] && node !== from);
  await moveSlot(world, slot, pick(random, others));
}

/** Adds a primary, moves a slot to it, and gives it a replica. */
async function addNode(world: World, random: Random): Promise<void> {
  const cluster = clusterOf(world);
  const added = await cluster.addNode();
  await moveSlot(world, await someSlot(world, random), added);
  await cluster.addNode(added);
  world.did('nodes added', `a node was added at ${added.port}`);
}

export const REDIS_GROUP_FAULTS: readonly Fault[] = [
  { name: 'kill-primary', redis: ['cluster', 'sentinel'], run: outage('kill') },
  { name: 'freeze-primary', redis: ['cluster', 'sentinel'], run: outage('freeze') },
  { name: 'cut-off-node', redis: ['cluster', 'sentinel'], run: outage('cutOff') },
  { name: 'switch-over', redis: ['cluster'], run: switchOver },
  { name: 'move-slot', redis: ['cluster'], run: moveToPrimary },
  { name: 'add-node', redis: ['cluster'], run: addNode },
];
