import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LeaderChangeSubscriber, LeadersByView, type LeaderStep } from '#client';
import { leaderMovements, type LeaderChange, type RankChange } from '#contracts';
import { TestInstance, until } from '../support/instance.js';
import {
  brokenChains,
  causeOf,
  consoleConsumerIds,
  readLeaderChanges,
  readRankChanges,
} from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';

const KILLS = 3;
/**
 * Before each kill, the test waits for at most this many more published events. It is fewer than
 * are sent between two kills, so that events are left when ingest is killed.
 */
const MOST_BEFORE_A_KILL = 1_000;
const EVENTS = 8_000;
/** Small sends, so that ingest works while events are sent. */
const AT_ONCE = 200;
const PLAYERS = 40;
/** No delta is 0, so each event changes something. */
const DELTAS = [-5, -3, -1, 1, 2, 3, 5, 8, 10];
const LEADERS = 5;
const OVERTOOK = 3;

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: ${LEADERS}, overtook: ${OVERTOOK} }
`;

const idsOf = (players: readonly { readonly playerId: string }[]) =>
  players.map(({ playerId }) => playerId);

/** All leader changes of each view, in the order of their versions. */
function chains(changes: readonly LeaderChange[]): Map<string, LeaderChange[]> {
  const views = new Map<string, LeaderChange[]>();
  for (const change of changes) views.set(change.view, [...(views.get(change.view) ?? []), change]);
  for (const chain of views.values()) chain.sort((a, b) => a.version - b.version);
  return views;
}

/** The player ids of a top after a step, computed from `left`, `moved` and `entered` alone. */
function replayed(ids: readonly string[], step: LeaderChange | LeaderStep): string[] {
  const ranks = new Map(ids.map((playerId, index) => [playerId, index + 1]));
  for (const { playerId } of step.left) ranks.delete(playerId);
  for (const { playerId, rankAfter } of step.moved) ranks.set(playerId, rankAfter);
  for (const { playerId, rank } of step.entered) ranks.set(playerId, rank);
  return [...ranks].sort(([, a], [, b]) => a - b).map(([playerId]) => playerId);
}

/**
 * The leader changes that a subscriber has received, and the tops that it has computed from them.
 */
class Follower {
  readonly received: LeaderChange[] = [];
  readonly leaders = new LeadersByView();
  /** Steps that do not lead from the previous top to the present top. */
  readonly brokenSteps: LeaderStep[] = [];
  readonly subscriber: LeaderChangeSubscriber;

  constructor({ kafka, name }: TestInstance) {
    const group = { groupId: `${name}-leaders`, topicPrefix: name, fromBeginning: true };
    this.subscriber = new LeaderChangeSubscriber({ kafka, ...group });
  }

  take(change: LeaderChange): void {
    this.received.push(change);
    const shown = idsOf(this.leaders.top(change.board, change.view));
    const step = this.leaders.take(change);
    const now = idsOf(this.leaders.top(change.board, change.view));
    if (step !== undefined && String(replayed(shown, step)) !== String(now))
      this.brokenSteps.push(step);
  }
}

function randomLines(random: () => number): string[] {
  const below = (limit: number) => Math.floor(random() * limit);
  return Array.from({ length: EVENTS }, () =>
    JSON.stringify({
      board: 'arena',
      playerId: `player-${below(PLAYERS)}`,
      delta: DELTAS[below(DELTAS.length)],
      occurredAt: `2026-03-0${1 + below(3)}T${10 + below(10)}:00:00Z`,
      attributes: { region: ['eu', 'us', 'asia'][below(3)] },
    }),
  );
}

/**
 * Produces events for an ingest that is killed over and over between its first and its last commit.
 */
async function killUnderLoad(instance: TestInstance, random: () => number): Promise<void> {
  const lines = randomLines(random);
  const share = Math.floor(EVENTS / (KILLS + 1));
  let service = await instance.start();
  for (let kill = 0; kill < KILLS; kill++) {
    const goal = (await instance.publishedCount()) + 1 + Math.floor(random() * MOST_BEFORE_A_KILL);
    const producing = instance.produce(lines.slice(kill * share, (kill + 1) * share), AT_ONCE);
    await until(
      async () => (await instance.publishedCount()) >= goal,
      `enough is published before kill ${kill + 1}`,
    );
    service.kill('SIGKILL');
    await Promise.all([service.ended, producing]);
    expect(await instance.publishedCount()).toBeLessThan(EVENTS);
    service = await instance.start();
  }
  await instance.produce(lines.slice(KILLS * share), AT_ONCE);
  await instance.published(EVENTS);
}

describe('leader changes of an ingest that is killed under load', () => {
  let instance: TestInstance;
  let follower: Follower;
  let changes: LeaderChange[];
  let rankChanges: RankChange[];

  beforeAll(async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    instance = await TestInstance.create(BOARDS);
    follower = new Follower(instance);
    await follower.subscriber.start((change) => follower.take(change));
    await killUnderLoad(instance, random);
    changes = await readLeaderChanges(instance.kafka, instance.topics);
    rankChanges = await readRankChanges(instance.kafka, instance.topics);
  }, 400_000);
  afterAll(async () => {
    await follower.subscriber.stop();
    await instance.remove();
  });

  it('occur exactly once each, as their ids show', async () => {
    const ids = await consoleConsumerIds(instance.topics.leaderChanges, changes.length);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(
      changes.map((change) => `${causeOf(change)} ${change.view}`).sort(),
    );
    expect(new Set(changes.map(({ source }) => source.partition)).size).toBe(4);
  });

  it('form a chain per view in the order of their versions: each is the difference from the previous one', () => {
    const broken = [...chains(changes).values()].flatMap((chain) =>
      chain.flatMap(({ view, version, since, top, entered, left, moved }, index) => {
        const last = chain[index - 1];
        const told = JSON.stringify({ since, entered, left, moved });
        const expected = JSON.stringify({
          since: last?.version ?? null,
          ...leaderMovements(idsOf(last?.top ?? []), top),
        });
        return told === expected ? [] : [`${view} ${version}: ${told} in place of ${expected}`];
      }),
    );
    expect(broken).toEqual([]);
    expect(changes.length).toBeGreaterThan(100);
  });

  it('give the top of each view in Redis when they are replayed', async () => {
    const views = chains(changes);
    const stored = await instance.reader.views('arena');
    for (const { view } of stored) {
      const found = views.get(view)?.reduce<string[]>(replayed, []);
      expect(found).toEqual(idsOf(await leadersInRedis(view)));
    }
    expect([views.size, stored.length]).toEqual([16, 16]);
  });

  it('each reach a subscriber once, and give it the top of every view in the end', async () => {
    await until(() => follower.received.length >= changes.length, 'all have come');
    expect(chains(follower.received)).toEqual(chains(changes));
    expect(follower.brokenSteps).toEqual([]);
    for (const { view } of await instance.reader.views('arena'))
      expect(follower.leaders.top('arena', view)).toEqual(await leadersInRedis(view));
  });

  it('come with rank changes that name the players who were passed', () => {
    expect(new Set(rankChanges.map(causeOf)).size).toBe(EVENTS);
    expect(rankChanges).toHaveLength(EVENTS);
    expect(brokenChains(rankChanges)).toEqual([]);
    const moves = rankChanges.flatMap((change) => change.changes);
    const wrong = moves.filter(({ before, after, overtook = [] }) => {
      if (after === null) return true; // nobody leaves this board
      if (before === null) return overtook.length > OVERTOOK;
      const passed = Math.min(OVERTOOK, Math.max(0, before.rank - after.rank));
      const ranks = Array.from({ length: passed }, (_, index) => after.rank + index);
      return (
        String(overtook.map(({ rankBefore }) => rankBefore)) !== String(ranks) ||
        overtook.some(({ rankBefore, rankAfter }) => rankAfter !== rankBefore + 1)
      );
    });
    expect(wrong).toEqual([]);
    expect(moves.filter(({ overtook }) => overtook?.length === OVERTOOK)).not.toEqual([]);
  });

  async function leadersInRedis(view: string) {
    const { entries } = await instance.reader.standings('arena', { view, limit: LEADERS });
    return entries.map(({ playerId, rank, competitionRank, columns }) => ({
      playerId,
      rank,
      competitionRank,
      columns,
    }));
  }
});
