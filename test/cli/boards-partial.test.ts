import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import { BoardStore, KeySpace } from '#board-store';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const ARENA = 'boards:\n  arena: { columns: [{ name: score }] }\n';
const TRIALS = '  trials: { columns: [{ name: points }] }\n';

describe('boards without all of their history', () => {
  let sandbox: BoardsSandbox;
  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(ARENA, { partitions: 1 });
    await sandbox.instance.start('--roles', 'ingest,reconciliation');
    await sandbox.publish([...eventsOf('arena', 400), ...eventsOf('trials', 100)]);
  });
  afterAll(() => sandbox.remove());

  it('one whose first build is not done is told by reads, status and plan', async () => {
    const { redis, name } = sandbox.instance;
    const store = new BoardStore(redis, new KeySpace(name), { shards: 1 });
    await store.registerBoards(parseBoardsFile(ARENA + TRIALS, 'boards.yaml'));
    await sandbox.writeBoards(ARENA + TRIALS);
    const [read, status, json, plan] = await Promise.all([
      sandbox.ranklog('standings', 'trials'),
      sandbox.ranklog('status'),
      sandbox.json('status'),
      sandbox.ranklog('boards', 'plan'),
    ]);
    expect([read.code, read.err]).toEqual([1, expect.stringContaining('is being built')]);
    const verify = await sandbox.ranklog('boards', 'verify', 'trials'); // 1 would say that it differs
    expect([verify.code, verify.err]).toEqual([3, expect.stringContaining('is being built')]);
    expect(status.out).toContain('not built yet, so not readable: trials');
    expect(json).toMatchObject({ building: ['trials'], partialHistory: [], reconciliations: [] });
    expect(plan.out).toContain('+ trials: new; registered, but no process builds it yet');
    expect(await sandbox.ranklog('boards', 'apply', '--yes')).toMatchObject({ code: 0 });
    expect(await sandbox.json('standings', 'trials')).toMatchObject({ size: 50 });
  });

  it('where the log is cut, plan says so and apply refuses, with the way out', async () => {
    const topic = sandbox.instance.topics.scoreEvents;
    await sandbox.instance.admin.fetchTopicOffsets(topic); // kafkajs must have heard of the topic
    await sandbox.instance.admin.deleteTopicRecords({
      topic,
      partitions: [{ partition: 0, offset: '150' }],
    });
    await sandbox.writeBoards(ARENA.replace('}]', ', decimals: 1 }]') + TRIALS);
    const plan = await sandbox.ranklog('boards', 'plan');
    expect(plan.out).toContain('the beginning of the log is gone in partition 0 (from offset 150)');
    expect(await sandbox.json('boards', 'plan')).toMatchObject({
      cut: [{ partition: 0, from: 0, logStart: 150 }],
      backfill: { records: 350 },
    });
    const before = await sandbox.liveGeneration('arena');
    const { code, err } = await sandbox.ranklog('boards', 'apply', '--yes');
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/partition 0: 0 to 149.*--allow-partial-history/),
    ]);
    expect(await sandbox.liveGeneration('arena')).toBe(before);
  });

  it('what is built all the same is shown as partial in every status', async () => {
    const applied = await sandbox.ranklog('boards', 'apply', '--yes', '--allow-partial-history');
    expect(applied.code).toBe(0);
    const generation = await sandbox.liveGeneration('arena');
    const [text, json, generations] = await Promise.all([
      sandbox.ranklog('status'),
      sandbox.json('status'),
      sandbox.ranklog('boards', 'generations'),
    ]);
    expect(text.out).toContain('board arena lacks the beginning of the log: partial, from 0:150');
    expect(json).toMatchObject({
      partialHistory: [{ board: 'arena', generation, startsAt: { 0: 150 } }],
    });
    expect(generations.out).toMatch(/^arena +live .* partial, from 0:150$/m);
    expect((await sandbox.ranklog('boards', 'verify', 'arena')).code).toBe(0);

    await sandbox.writeBoards(ARENA.replace('}]', ', decimals: 2 }]') + TRIALS);
    const plan = await sandbox.ranklog('boards', 'plan');
    expect(plan.out).toContain('~ arena: changed');
    expect(plan.out).not.toContain('the beginning of the log is gone');
    expect(plan.out).toContain('starts where the live generation does: partial, from 0:150');
    expect(await sandbox.json('boards', 'plan')).toMatchObject({
      boards: [
        { board: 'arena', startsAt: { 0: 150 } },
        { board: 'trials', startsAt: null },
      ],
      backfill: { records: 350 },
    });
    const rebuilt = await sandbox.ranklog('boards', 'rebuild', 'arena');
    expect([rebuilt.code, rebuilt.out]).toEqual([
      0,
      expect.stringContaining('arena: partial, from 0:150; "--from start" reads the whole log'),
    ]);
    const all = await sandbox.ranklog('boards', 'rebuild', 'arena', '--from', 'start');
    expect([all.code, all.out]).toEqual([
      0,
      expect.stringMatching(/^arena: partial, from 0:150$/m), // the log has no more
    ]);
    const slip = await sandbox.ranklog('boards', 'rebuild', 'arena', '--from', 'stat');
    expect([slip.code, slip.err]).toEqual([2, expect.stringContaining('or "start"')]);
  });

  it('verify of a board whose beginning is gone from the log ends with 2, not with 1', async () => {
    const { code, err } = await sandbox.ranklog('boards', 'verify', 'trials');
    expect([code, err]).toEqual([2, expect.stringContaining('are gone from the log')]);
  });
});
