import type { ComponentChildren } from 'preact';
import type { HttpReadError, Standing } from '#http';

/** What failed and what to do, in the words of the service; without a problem, that it loads. */
export function ProblemNotice({ problem }: { problem: HttpReadError | undefined }) {
  const isAway = problem?.code === 'UNREACHABLE';
  const text = problem?.message.slice(problem.code.length + 2) ?? 'Loading…';
  return (
    <p class="notice" role="status" data-problem={problem?.code}>
      {isAway ? 'The service does not answer; this page tries again.' : text}
    </p>
  );
}

const TIMES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
export const timeText = (time: string) => TIMES.format(new Date(time));
export const countText = (count: number) => count.toLocaleString('en');

/** The name of a field as a label: `goalDifference` is Goal difference. */
export function labelOf(name: string): string {
  const words = name.replaceAll(
    /[a-z][A-Z]/g,
    ([end, begin = '']: string) => `${end} ${begin.toLowerCase()}`,
  );
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const [WIDTH, HEIGHT] = [320, 100];

/** A drawing and its text, which says the same. */
function Plot({ text, children }: { text: string; children: ComponentChildren }) {
  return (
    <figure>
      <figcaption>{text}</figcaption>
      <svg viewBox={`0 -6 ${WIDTH} ${HEIGHT + 12}`} role="img" aria-label={text}>
        {children}
      </svg>
    </figure>
  );
}

interface Bucket {
  readonly min: string;
  readonly max: string;
  readonly count: number;
}

/** How many players have which values of the first column, the worst on the left; the bucket of the player stands out. */
export function Histogram({
  buckets,
  columns,
}: { buckets: readonly Bucket[] } & Pick<Standing, 'columns'>) {
  const [[name, own] = ['', '']] = Object.entries(columns);
  const mine = buckets.find(
    ({ min, max }) => Number(min) <= Number(own) && Number(own) <= Number(max),
  );
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const width = WIDTH / buckets.length;
  const same = mine && `: ${countText(mine.count)} have ${mine.min} to ${mine.max}, as this player`;
  return (
    <Plot text={`All players by ${labelOf(name)}${same ?? ''}`}>
      {buckets.toReversed().map((bucket, index) => {
        const height = bucket.count && Math.max(2, (bucket.count / most) * HEIGHT);
        const place = { x: index * width, y: HEIGHT - height, width: width - 1, height };
        return <rect key={bucket.min} class={bucket === mine ? 'own' : 'bar'} {...place} />;
      })}
    </Plot>
  );
}

/** The answer of `GET .../players/PLAYER/changes`. */
export interface RankChanges {
  /** null if the process holds no rank changes. */
  readonly heldSince: string | null;
  readonly changes: readonly {
    readonly changes: readonly { readonly view: string; readonly after: { rank: number } | null }[];
  }[];
}

/** The rank after each of the last rank changes, the best at the top. */
export function RankPlot({ view, changes, heldSince }: RankChanges & { view: string }) {
  const ranks = changes.flatMap(({ changes: moves }) =>
    moves.flatMap((move) => (move.view === view && move.after ? [move.after.rank] : [])),
  );
  const since = heldSince === null ? '' : ` since ${timeText(heldSince)}`;
  const held = `${since}, as far back as this process holds rank changes`;
  if (ranks.length === 0) return <p>{`No rank change of this player${held}.`}</p>;
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)];
  const points = ranks.map((rank, index) => [
    6 + (index / Math.max(1, ranks.length - 1)) * (WIDTH - 12),
    ((rank - best) / Math.max(1, worst - best)) * HEIGHT,
  ]);
  const [x, y] = points.at(-1) ?? [];
  return (
    <Plot text={`Rank over ${ranks.length} changes${held}: best ${best}, worst ${worst}`}>
      <polyline class="trace" points={points.join(' ')} />
      <circle class="own" cx={x} cy={y} r="5" />
    </Plot>
  );
}
