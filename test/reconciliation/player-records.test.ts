import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BoardReader } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import type { PlayerRecordKind, RankChange, Source } from '#contracts';
import { until } from '../support/instance.js';
import { definitionsOf, RUN, Scene } from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: 3, ranks: [ordinal, competition] }
`;
const PLAYERS = 60;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: 1 + (serial % 7),
  occurredAt: new Date(BASE + serial * 60_000).toISOString(),
  attributes: { region: serial % 2 === 0 ? 'eu' : 'us' },
});

describe('banned and erased players', () => {
  let scene: Scene;
  let scores: ScoreProducer;
  let moderation: ModerationProducer;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { partitions: 2, sent: 600 });
    const { instance } = scene;
    scores = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await scores.connect();
    moderation = new ModerationProducer({ producer: scores, reader: instance.reader });
  });
  afterAll(async () => {
    await scores.disconnect();
    await scene.close();
  });

  const players = (...numbers: number[]) => numbers.map((number) => `player-${number}`);
  const send = (kind: PlayerRecordKind, ids: readonly string[]) =>
    moderation.send(
      kind,
      ids.map((playerId) => ({ board: 'arena', playerId, reason: 'a bot', by: 'op' })),
    );
  /** Waits until ingest has published the results of records. */
  const published = async (places: readonly Source[]) => {
    const { admin, name, topics } = scene.instance;
    await until(async () => {
      const asked = { groupId: name, topics: [topics.scoreEvents] };
      const [found] = await admin.fetchOffsets(asked);
      return places.every(({ partition, offset }) =>
        found?.partitions.some((one) => one.partition === partition && Number(one.offset) > offset),
      );
    }, 'the records are published');
  };
  const change = async (kind: PlayerRecordKind, ...ids: string[]) => {
    const places = await send(kind, ids);
    await published(places);
    return places;
  };
  const shown = async (reader = scene.instance.reader) => {
    const { entries } = await reader.standings('arena', { limit: 1_000 });
    return entries.map(({ playerId }) => playerId);
  };
  const expectEqual = async () => {
    const [report] = await scene.sandbox.reconciler.verify(['arena'], RUN);
    expect(report).toMatchObject({ differences: [], equal: true });
  };
  const build = (options = {}) =>
    scene.sandbox.reconciler.build(definitionsOf(BOARDS), { ...RUN, ...options });

  it('leave all views with one rank change, stay out of builds, and come back with their scores', async () => {
    const { reader } = scene.instance;
    const before = await reader.player('arena', 'player-7', {});
    const [ban] = await change('banned', 'player-7');
    expect(await shown()).not.toContain('player-7');
    expect(await reader.ban('arena', 'player-7')).toMatchObject({
      kind: 'banned',
      by: 'op',
      ...place(ban!),
    });
    await scores.send([{ ...event(7), occurredAt: new Date(BASE).toISOString() }]);
    await build();
    expect(await shown()).not.toContain('player-7');
    await expectEqual();

    const [unban] = await change('unbanned', 'player-7');
    const { standing } = await reader.player('arena', 'player-7', {});
    const points = Number(before.standing!.columns['points']) + 1;
    expect(standing?.columns).toEqual({ points: String(points) });
    await expectEqual();
    const changes = await scene.rankChanges();
    const of = (source: Source) =>
      changes.filter(
        (one) => one.source.offset === source.offset && one.source.partition === source.partition,
      );
    const [left, came] = [of(ban!), of(unban!)];
    expect([left.length, came.length]).toEqual([1, 1]);
    const views = (await reader.kept('arena', 'player-7')).map(({ view }) => view).sort();
    expect(left[0]!.changes.map(({ view }) => view).sort()).toEqual(views);
    expect(left[0]!.changes.every(({ after }) => after === null)).toBe(true);
    expect(came[0]!.changes.map(({ view }) => view).sort()).toEqual(views);
    expect(came[0]!.changes.every(({ before }) => before === null)).toBe(true);
    expect(chainBreaks(changes, await generation())).toEqual([]);
  });

  const generation = async () => (await scene.sandbox.live('arena')).generation;

  it('are not in a generation to which a board is rolled back', async () => {
    await build();
    await change('banned', ...players(1, 2));
    await scene.sandbox.reconciler.rollback('arena', RUN);
    expect(await shown()).not.toContain('player-1');
    await expectEqual();
    await change('unbanned', ...players(1, 2));
    await scene.sandbox.reconciler.rollback('arena', RUN);
    expect(await shown()).toContain('player-1');
    await expectEqual();
  });

  it('are not in a snapshot of an earlier time if they are erased; banned ones are', async () => {
    const until = Date.now();
    await change('banned', 'player-3');
    await change('erased', 'player-4');
    expect(await scene.instance.reader.kept('arena', 'player-4')).toEqual([]);
    const made = await scene.sandbox.reconciler.snapshot('arena', until, RUN);
    const { redis, name: prefix } = scene.instance;
    const snapshot = new BoardReader({ redis, prefix, generation: made.generation });
    const found = await shown(snapshot);
    expect(found).toContain('player-3');
    expect(found).not.toContain('player-4');
    await scores.send([event(4)]);
    await scene.send(0);
    expect(await scene.instance.reader.kept('arena', 'player-4')).toEqual([]);
    await expectEqual();
  });

  it('each leave once while boards are built and verified under traffic', async () => {
    scene.traffic.start(40, 20);
    const places: Source[] = [];
    const ids = players(...Array.from({ length: 20 }, (_, index) => 30 + index));
    const moderate = async () => {
      for (const playerId of ids)
        for (const kind of ['banned', 'unbanned', 'banned'] as const)
          places.push(...(await send(kind, [playerId])));
    };
    const rebuild = async () => {
      for (let round = 0; round < 3; round++) {
        await build();
        await expectEqual();
      }
    };
    await Promise.all([moderate(), rebuild()]);
    await scene.traffic.stop();
    await published(places);
    await scene.send(0);
    await expectEqual();
    const found = await shown();
    expect(ids.filter((id) => found.includes(id))).toEqual([]);
    const changes = await scene.rankChanges();
    const causes = new Set(changes.map(({ source }) => `${source.partition} ${source.offset}`));
    expect(places.filter(({ partition, offset }) => !causes.has(`${partition} ${offset}`))).toEqual(
      [],
    );
    expect(chainBreaks(changes, await generation())).toEqual([]);
  });

  it('stay banned if Redis is emptied, although the board begins after the ban', async () => {
    const { redis, name } = scene.instance;
    await change('banned', 'player-8');
    await build({ from: Date.now() });
    await scene.stop();
    await redis.unlink(...(await redis.keys(`${name}:*`)));
    await scene.start();
    await scores.send([event(8), event(9)]);
    await until(async () => (await shown()).includes('player-9'), 'a new event counts');
    expect(await shown()).not.toContain('player-8');
    await expectEqual();
  });

  it('stay banned if the log loses the ban, and the board is built from the rest', async () => {
    await scene.stop();
    const { admin, topics } = scene.instance;
    const topic = topics.scoreEvents;
    const ends = await admin.fetchTopicOffsets(topic);
    const partitions = ends.map(({ partition, offset }) => ({ partition, offset }));
    await admin.deleteTopicRecords({ topic, partitions });
    await build({ allowPartialHistory: true });
    await scene.start();
    await scores.send([event(3), event(4), event(5)]);
    await until(async () => (await shown()).includes('player-5'), 'a new event counts');
    const found = await shown();
    expect(found).not.toContain('player-3');
    expect(found).not.toContain('player-4');
    expect(await scene.instance.reader.ban('arena', 'player-4')).toMatchObject({ kind: 'erased' });
    await expectEqual();
  });
});

function place({ partition, offset }: Source) {
  return { partition, offset };
}

/** Movements of a generation that don't begin where the player's movement before them ended. */
function chainBreaks(changes: readonly RankChange[], generation: string): string[] {
  const last = new Map<string, unknown>();
  const breaks: string[] = [];
  for (const { playerId, changes: movements, source } of changes.filter(
    (one) => one.generation === generation,
  ))
    // prettier-ignore
    for (const { view, before, after } of movements) {
      const name = `${playerId} ${view}`;
      const columns = JSON.stringify(before?.columns ?? null);
      if (last.has(name) && last.get(name) !== columns)
        breaks.push(`${name} ${source.offset}: ${columns} after ${String(last.get(name))}`);
      last.set(name, JSON.stringify(after?.columns ?? null));
    }
  return breaks;
}
