import type { ComponentChildren } from 'preact';
import type { Histogram, Standing, Standings } from '#http';
import { boardPath, getJson, reader, useAnswer, type Ban } from './data.js';
import { countText, Facts, ProblemNotice, Table, timeText } from './parts.js';
import { hashOf, type Route } from './route.js';

type Chosen = Route & { readonly player: string };

/** A player in a view: place, the last ranks, the histogram of the view, and neighbours. */
export function Player({ route }: { route: Chosen }) {
  const { board, view, player } = route;
  const read = async () => {
    const [around, { buckets }] = await Promise.all([
      reader.around(board, player, { view, above: 2, below: 2 }),
      reader.histogram(board, { view, buckets: 24 }),
    ]);
    return { ...around, buckets };
  };
  const { value, problem } = useAnswer(String(view), { read });
  return (
    <section class="card player" aria-label={`Player ${player}`} data-panel="player">
      <div class="line">
        <h2 ref={focus} tabIndex={-1}>
          {player}
        </h2>
        <a href={hashOf({ ...route, player: undefined })} onClick={leave}>
          Close
        </a>
      </div>
      {value ? <Details route={route} {...value} /> : <ProblemNotice problem={problem} />}
    </section>
  );
}

const focus = (element: HTMLElement | null | undefined) => element?.focus();

/** Focuses the row of the player in the table; if it is not there, the search. */
const leave = () =>
  focus([...document.querySelectorAll<HTMLElement>('input, [data-chosen] a')].at(-1));

type DetailsProps = Standings & Pick<Histogram, 'buckets'> & { readonly route: Chosen };

function Details({ route, view, size, entries, buckets }: DetailsProps) {
  const standing = entries.find(({ playerId }) => playerId === route.player);
  if (standing === undefined) return <Absent route={route} />;
  const { rank, percentile, columns, reachedAt } = standing;
  return (
    <>
      <p>
        <span role="status">
          Rank <strong data-place={rank}>{rank}</strong>
        </span>{' '}
        of {countText(size)}, ahead of {percentile} %
      </p>
      <Facts facts={Object.entries({ ...columns, reached: reachedAt })} />
      <RankPlot {...{ route, view, reachedAt }} />
      <ScorePlot {...{ buckets, columns }} />
      <h3>Around {route.player}</h3>
      <Table {...{ route, entries }} />
    </>
  );
}

/** Why a player is not in the view. Only a token with the scope `operate` shows a ban. */
function Absent({ route: { board, player } }: { route: Chosen }) {
  const path = `${boardPath(board)}/bans/${encodeURIComponent(player)}`;
  const read = async (): Promise<{ ban: Ban | null }> => {
    return getJson<{ ban: Ban | null }>(path).catch(() => ({ ban: null }));
  };
  const { value } = useAnswer(path, { read, everyMs: 10_000 });
  const ban = value?.ban;
  if (!ban || ban.kind === 'unbanned')
    return <p class="notice">This player has no score in this view.</p>;
  const { kind, time, by = null, reason = null } = ban;
  return (
    <>
      <p class="notice">This player is {kind} on this board.</p>
      <Facts facts={Object.entries({ since: time, by, reason })} />
    </>
  );
}

const WIDTH = 320;
const HEIGHT = 80;

function Plot({ text, children }: { text: string; children: ComponentChildren }) {
  return (
    <figure>
      <figcaption>{text}</figcaption>
      <svg viewBox={`0 -6 ${WIDTH} ${HEIGHT + 12}`} aria-hidden="true">
        {children}
      </svg>
    </figure>
  );
}

/**
 * The number of players by value of the first column, with the worst values on the left. The bucket
 * of the player has another colour.
 */
function ScorePlot({ buckets, columns }: Pick<Histogram, 'buckets'> & Pick<Standing, 'columns'>) {
  const [[name, own] = ['', '']] = Object.entries(columns);
  const score = Number(own);
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const width = WIDTH / buckets.length;
  const mine = buckets.find(({ min, max }) => Number(min) <= score && score <= Number(max));
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

/**
 * The answer of `GET .../players/PLAYER/changes`; `heldSince` is null if the process holds no rank
 * changes.
 */
interface RankChanges {
  readonly heldSince: string | null;
  readonly changes: readonly {
    readonly changes: readonly { readonly view: string; readonly after: { rank: number } | null }[];
  }[];
}

type RankProps = { readonly route: Chosen } & Pick<Standings, 'view'> & Pick<Standing, 'reachedAt'>;

/** The rank after each of the last rank changes, the best at the top. */
function RankPlot({ route: { board, player }, view, reachedAt }: RankProps) {
  const path = `${boardPath(board)}/players/${encodeURIComponent(player)}/changes`;
  const read = () => getJson<RankChanges>(path);
  // The last change is published a moment after the standings show it.
  const { value, problem } = useAnswer('changes', { read, everyMs: 10_000, after: reachedAt });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  const { changes, heldSince } = value;
  const moves = changes.flatMap((change) => change.changes).filter((move) => move.view === view);
  const ranks = moves.flatMap(({ after }) => (after ? [after.rank] : []));
  if (heldSince === null || ranks.length === 0)
    return <p>This process holds no rank change of this player.</p>;

  const best = Math.min(...ranks);
  const worst = Math.max(...ranks);
  const points = ranks.map((rank, index) => [
    6 + (index / Math.max(1, ranks.length - 1)) * (WIDTH - 12),
    ((rank - best) / Math.max(1, worst - best)) * HEIGHT,
  ]);
  const [x, y] = points.at(-1) ?? [];
  const held = `the ${ranks.length} changes that this process holds, since ${timeText(heldSince)}`;
  return (
    <Plot text={`Rank over ${held}: best ${best}, worst ${worst}`}>
      <polyline points={points.join(' ')} fill="none" stroke="var(--accent)" stroke-width="2" />
      <circle fill="var(--accent)" cx={x} cy={y} r="5" />
    </Plot>
  );
}
