import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Histogram, Standing } from '#http';
import { getJson, problemIn, reader, useAnswer } from './data.js';
import { countText, labelOf, ProblemNotice, Table, timeText } from './parts.js';
import { hashOf, type Route } from './route.js';

/** A player whom a link to the page shows does not take the focus. */
const OPENED_WITH = location.hash;

type Chosen = Route & { readonly player: string };

/** A player in a view: place, the last ranks, the histogram of the view, and neighbours. */
export function Player({ route }: { route: Chosen }) {
  const { player } = route;
  const { value, problem } = useAnswer(hashOf(route), { read: () => readPlayer(route) });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash !== OPENED_WITH) heading.current?.focus();
  }, []);
  const row = `[data-player="${CSS.escape(player)}"] a`;
  const focusRow = () => document.querySelector<HTMLElement>(row)?.focus();
  return (
    <section class="card player" aria-label={`Player ${player}`} data-panel="player">
      <div class="line">
        <h2 ref={heading} tabIndex={-1}>
          {player}
        </h2>
        <a href={hashOf({ ...route, player: undefined })} onClick={focusRow}>
          Close
        </a>
      </div>
      {!value && <ProblemNotice problem={problem} />}
      {value && <Details {...value} route={route} />}
    </section>
  );
}

async function readPlayer({ board, player, window, where }: Chosen) {
  const view = { window, where };
  const path = `/v1/boards/${encodeURIComponent(board)}/players/${encodeURIComponent(player)}`;
  const [place, { entries }, { buckets }, changes] = await Promise.all([
    reader.player(board, player, view),
    reader.around(board, player, { ...view, above: 2, below: 2 }),
    reader.histogram(board, { ...view, buckets: 24 }),
    getJson<RankChanges>(`${path}/changes`).catch(problemIn),
  ]);
  return { ...place, entries, buckets, changes };
}

type DetailsProps = Awaited<ReturnType<typeof readPlayer>> & { readonly route: Route };

function Details({ route, standing, view, size, entries, buckets, changes }: DetailsProps) {
  if (standing === null) return <p class="notice">This player has no score in this view.</p>;
  const { playerId, rank, percentile, columns, reachedAt } = standing;
  return (
    <>
      <p role="status">
        Rank <strong data-place={rank}>{rank}</strong> of {countText(size)}, ahead of {percentile} %
      </p>
      <dl>
        {Object.entries({ ...columns, reached: timeText(reachedAt) }).map(([name, value]) => (
          <div key={name}>
            <dt>{labelOf(name)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {'problem' in changes ? (
        <ProblemNotice {...changes} />
      ) : (
        <RankPlot view={view} {...changes} />
      )}
      <ScorePlot buckets={buckets} columns={columns} />
      <h3>Around {playerId}</h3>
      <Table route={route} entries={entries} />
    </>
  );
}

const [WIDTH, HEIGHT] = [320, 80];

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

type HistogramProps = Pick<Histogram, 'buckets'> & Pick<Standing, 'columns'>;

/** How many players have which values of the first column, the worst on the left; the bucket of the player stands out. */
function ScorePlot({ buckets, columns }: HistogramProps) {
  const [[name, own] = ['', '']] = Object.entries(columns);
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const width = WIDTH / buckets.length;
  const mine = buckets.find(
    ({ min, max }) => Number(min) <= Number(own) && Number(own) <= Number(max),
  );
  const same =
    mine && `: ${countText(mine.count)} have ${mine.min} to ${mine.max}, this one included`;
  return (
    <Plot text={`Players by ${name}${same ?? ''}`}>
      {buckets.toReversed().map((bucket, index) => {
        const height = bucket.count && Math.max(2, (bucket.count / most) * HEIGHT);
        const place = { x: index * width, y: HEIGHT - height, width: width - 1, height };
        const fill = bucket === mine ? 'var(--accent)' : 'var(--muted)';
        return <rect key={bucket.min} fill={fill} {...place} />;
      })}
    </Plot>
  );
}

/** The answer of `GET .../players/PLAYER/changes`; `heldSince` is null if the process holds no rank changes. */
interface RankChanges {
  readonly heldSince: string | null;
  readonly changes: readonly {
    readonly changes: readonly { readonly view: string; readonly after: { rank: number } | null }[];
  }[];
}

/** The rank after each of the last rank changes, the best at the top. */
function RankPlot({ view, changes, heldSince }: RankChanges & { view: string }) {
  const moves = changes.flatMap((change) => change.changes).filter((move) => move.view === view);
  const ranks = moves.flatMap(({ after }) => (after ? [after.rank] : []));
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
      <polyline points={points.join(' ')} fill="none" stroke="var(--accent)" stroke-width="2" />
      <circle fill="var(--accent)" cx={x} cy={y} r="5" />
    </Plot>
  );
}
