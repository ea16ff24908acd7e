import stringWidth from 'string-width';
import { formatTime } from '#board';
import type { Standing, Standings } from '#board-store';
import { standingsText } from './standings-text.js';

/** Ranks by player, as they were shown last. */
type Ranks = ReadonlyMap<string, number>;

const OPEN = '\u001b[?1049h\u001b[?25l'; // to the alternate buffer, without a cursor
const CLOSE = '\u001b[?25h\u001b[?1049l';
const [HOME, CLEAR_LINE, CLEAR_BELOW] = ['\u001b[H', '\u001b[K', '\u001b[J'];

/** Shows the top of a view again and again: on a terminal in place, elsewhere as one table after the other. */
export class LiveScreen {
  #ranks: Ranks | undefined;
  #before: Ranks | undefined;
  #text = '';
  readonly #redraw = () => this.#draw();

  constructor(private readonly stream: NodeJS.WriteStream = process.stdout) {
    if (!stream.isTTY) return;
    stream.write(OPEN);
    stream.on('resize', this.#redraw);
  }

  /** Shows a reading; an unchanged one only on a terminal, whose last line has the time of the reading (ms). */
  show(standings: Standings, isChanged: boolean, readAt: number): void {
    if (isChanged) {
      this.#before = this.#ranks;
      this.#ranks = new Map(standings.entries.map(({ playerId, rank }) => [playerId, rank]));
    }
    this.#text = liveText(standings, this.#before, readAt);
    if (this.stream.isTTY) this.#draw();
    else if (isChanged) this.stream.write(`${this.#text}\n\n`);
  }

  /** Shows what the terminal showed before. */
  close(): void {
    if (!this.stream.isTTY) return;
    this.stream.off('resize', this.#redraw);
    this.stream.write(CLOSE);
  }

  #draw(): void {
    const lines = fittingLines(this.#text, this.stream);
    this.stream.write(`${HOME}${lines.join(`${CLEAR_LINE}\n`)}${CLEAR_LINE}${CLEAR_BELOW}`);
  }
}

/** The view with marks of who rose and fell since `before`, and a line with the number of players and the time. */
export function liveText(standings: Standings, before: Ranks | undefined, readAt: number): string {
  const { entries, size, stale } = standings;
  const warning = stale ? '; stale: Redis may lack events, ranks may be wrong' : '';
  const text = standingsText(standings, (entry) => markOf(entry, before));
  return `${text}\n${entries.length} of ${size} players at ${formatTime(readAt)}${warning}`;
}

function markOf({ playerId, rank }: Standing, before: Ranks | undefined): string {
  if (before === undefined) return '';
  const risen = (before.get(playerId) ?? Infinity) - rank;
  if (risen === 0) return '';
  if (risen === Infinity) return 'new';
  return risen > 0 ? `▲${risen}` : `▼${-risen}`;
}

/** The lines of a text that fit on a terminal: the first ones and the last one, each cut at the right edge. */
export function fittingLines(text: string, terminal: { rows: number; columns: number }): string[] {
  const lines = text.split('\n');
  return [...lines.slice(0, -1).slice(0, terminal.rows - 1), lines.at(-1) ?? ''].map((line) => {
    const letters = Array.from(line);
    while (stringWidth(letters.join('')) > terminal.columns) letters.pop();
    return letters.join('');
  });
}
