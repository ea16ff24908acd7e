import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { Standings } from '#board-store';
import { LiveScreen } from './live-screen.js';

const AT = Date.parse('2026-11-20T09:00:00.000Z');

function view(players: readonly string[], stale = false): Standings {
  const head = { board: 'arena', view: 'all', version: 1, stale, size: 9 };
  const entries = players.map((playerId, index) => ({
    playerId,
    rank: index + 1,
    competitionRank: index + 1,
    aheadOf: 0,
    percentile: 0,
    columns: { points: String(9 - index) },
    reachedAt: '2026-11-20T08:00:00.000Z',
  }));
  return { ...head, entries };
}

/** What a screen writes to a terminal, or elsewhere. */
class Output extends EventEmitter {
  written: string[] = [];

  constructor(
    readonly isTTY: boolean,
    readonly rows = 24,
    public columns = 80,
  ) {
    super();
  }

  write(text: string): void {
    this.written.push(text);
  }

  /** What the last drawing put on the terminal. */
  get lines(): string[] {
    // eslint-disable-next-line no-control-regex
    return (this.written.at(-1) ?? '').replaceAll(/\u001b\[[?0-9]*[A-Za-z]/g, '').split('\n');
  }
}

const open = (output: Output) => new LiveScreen(output as unknown as NodeJS.WriteStream);

describe('the live screen', () => {
  it('prints a table per change without a terminal, with marks of who moved since the last one', () => {
    const output = new Output(false);
    const screen = open(output);
    screen.show(view(['ada', 'bob', 'cyd']), true, AT);
    screen.show(view(['ada', 'bob', 'cyd']), false, AT + 1);
    screen.show(view(['cyd', 'ada', 'dan'], true), true, AT + 2);
    screen.close();
    expect(output.written.join('')).toBe(
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   1  ada          9  2026-11-20T08:00:00.000Z',
        '   2  bob          8  2026-11-20T08:00:00.000Z',
        '   3  cyd          7  2026-11-20T08:00:00.000Z',
        '3 of 9 players at 2026-11-20T09:00:00.000Z',
        '',
        'arena: all',
        '',
        '     rank  player  points  reached',
        '▲2      1  cyd          9  2026-11-20T08:00:00.000Z',
        '▼1      2  ada          8  2026-11-20T08:00:00.000Z',
        'new     3  dan          7  2026-11-20T08:00:00.000Z',
        '3 of 9 players at 2026-11-20T09:00:00.002Z; stale: Redis may lack events, ranks may be wrong',
        '',
        '',
      ].join('\n'),
    );
  });

  it('fits a terminal, also after a change of its size, shows the time of each reading, and restores the terminal', () => {
    const output = new Output(true, 5, 16);
    const screen = open(output);
    screen.show(view(['ada', '日本日本日', 'cyd']), true, AT);
    const table = ['arena: all', '', 'rank  player    ', '   1  ada       '];
    expect(output.lines).toEqual([...table, '3 of 9 players a']);
    output.columns = 40;
    output.emit('resize');
    expect(output.lines.at(-1)).toBe('3 of 9 players at 2026-11-20T09:00:00.00');
    screen.show(view(['日本日本日', 'ada']), true, AT);
    screen.show(view(['日本日本日', 'ada']), false, AT + 1_000);
    output.columns = 15;
    output.emit('resize');
    expect(output.lines).toEqual([
      'arena: all',
      '',
      '    rank  playe',
      '▲1     1  日本',
      '2 of 9 players ',
    ]);
    screen.close();
    expect([output.written[0], output.written.at(-1)]).toEqual([
      '\u001b[?1049h\u001b[?25l',
      '\u001b[?25h\u001b[?1049l',
    ]);
    expect(output.listenerCount('resize')).toBe(0);
  });
});
