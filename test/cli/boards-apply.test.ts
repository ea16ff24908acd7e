import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { causeOf, readRankChanges } from '../support/results.js';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const plain = (fields: string) =>
  `boards:\n  arena: { columns: [{ name: score, ${fields} }] }\n  other: { columns: [{ name: points }] }\n`;
const CHANGED = `${plain('update: sum')}  trials: { columns: [{ name: points }] }\n`;
const EVENTS = 3_000;

describe('boards apply', () => {
  let sandbox: BoardsSandbox;
  const top = async (): Promise<string | undefined> => {
    const { entries } = await sandbox.instance.reader.standings('arena', 'all', {
      offset: 0,
      limit: 1,
    });
    return entries[0]?.columns['score'];
  };

  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(plain('update: best'));
    await sandbox.instance.start();
    await sandbox.publish([...eventsOf('arena', EVENTS), ...eventsOf('trials', 20)]);
  });
  afterAll(() => sandbox.remove());

  it('does nothing without a terminal to ask on, nor with --dry-run', async () => {
    await sandbox.writeBoards(CHANGED);
    const before = await sandbox.liveGeneration('arena');
    const asked = await sandbox.ranklog('boards', 'apply');
    expect([asked.code, asked.err]).toEqual([
      2,
      'ranklog: apply asks for confirmation, and there is no terminal; use --yes, or "ranklog boards plan" to see the changes\n',
    ]);
    const dry = await sandbox.ranklog('boards', 'apply', '--dry-run', '--yes');
    expect([dry.code, dry.out]).toEqual([
      1,
      expect.stringContaining('columns.score.update: best -> sum'),
    ]);
    expect(await sandbox.liveGeneration('arena')).toBe(before);
    expect(await top()).toBe('100');
  });

  it('builds changed and new boards under traffic: no result comes twice', async () => {
    await sandbox.writeBoards(CHANGED);
    const traffic = { sent: 0, isOver: false };
    const sending = (async () => {
      while (!traffic.isOver) {
        await sandbox.send([...eventsOf('arena', 50), ...eventsOf('trials', 5)]);
        traffic.sent += 55;
      }
    })();
    const applied = await sandbox.json<{ built: { board: string; generation: string }[] }>(
      'boards',
      'apply',
      '--yes',
    );
    traffic.isOver = true;
    await sending;
    expect(applied.built.map(({ board }) => board).sort()).toEqual(['arena', 'trials']);
    expect(traffic.sent).toBeGreaterThan(0);
    await sandbox.instance.run('status', '--wait', '60');

    expect(await sandbox.ranklog('boards', 'verify')).toMatchObject({ code: 0 });
    const { code, out } = await sandbox.ranklog('boards', 'plan');
    expect([code, out]).toEqual([0, expect.stringContaining('nothing to do')]);
    const changes = await readRankChanges(sandbox.instance.kafka, sandbox.instance.topics);
    const causes = changes.map(causeOf);
    expect(new Set(causes).size).toBe(causes.length);
  });

  it('goes back with rollback, and forward again', async () => {
    const now = await sandbox.liveGeneration('arena');
    const back = await sandbox.json<{ generation: string; previous: string }>(
      'boards',
      'rollback',
      'arena',
    );
    expect(back).toMatchObject({ board: 'arena', previous: now });
    expect(await sandbox.liveGeneration('arena')).toBe(back.generation);
    expect((await sandbox.ranklog('boards', 'plan')).code).toBe(1);
    const forward = await sandbox.ranklog('boards', 'rollback', 'arena');
    expect(forward.out).toContain(`arena: generation ${now} is live again`);
    const none = await sandbox.ranklog('boards', 'rollback', 'trials');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('no previous generation')]);
    const slip = await sandbox.ranklog('boards', 'rollback', 'arenna');
    expect([slip.code, slip.err]).toEqual([1, expect.stringContaining('did you mean arena?')]);
    expect((await sandbox.ranklog('status')).out).not.toContain('arenna');
  });

  it('removes a board that the file no longer has, by its name alone', async () => {
    const inFile = await sandbox.ranklog('boards', 'apply', '--yes', '--remove', 'trials');
    expect([inFile.code, inFile.err]).toEqual([2, expect.stringContaining('delete it there')]);
    await sandbox.writeBoards(plain('update: sum'));
    const kept = await sandbox.ranklog('boards', 'apply', '--yes');
    expect([kept.code, kept.out]).toEqual([
      0,
      expect.stringContaining('- trials: not in the file; kept'),
    ]);
    const slip = await sandbox.ranklog('boards', 'apply', '--yes', '--remove', 'trails');
    expect([slip.code, slip.err]).toEqual([1, expect.stringContaining('did you mean trials?')]);

    const gone = await sandbox.ranklog('boards', 'apply', '--yes', '--remove', 'trials');
    expect([gone.code, gone.out]).toEqual([0, expect.stringContaining('trials: removed\n')]);
    expect((await sandbox.ranklog('standings', 'trials')).code).toBe(1);
    expect((await sandbox.ranklog('status')).out).not.toContain('trials');
  });
});
