import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Neighbour, PlayerStanding, SearchPage, Standing } from '#http';
import {
  boardPath,
  getJson,
  problemIn,
  POLL_MS,
  reader,
  useEvents,
  usePolled,
  type Answer,
} from './data.js';
import { countText, labelOf, ProblemNotice, Table, timeText } from './parts.js';
import { hashOf, type Route } from './route.js';

const MOST_FOUND = 20;
/** A step looks at about 1,000 players. */
const MOST_STEPS = 5;

/** A search field; its results are links that choose a player. */
export function PlayerSearch({ route }: { route: Route }) {
  const [text, setText] = useState('');
  const found = usePolled(`search ${text}`, {
    read: () => search(route, text),
    everyMs: text === '' ? undefined : 10 * POLL_MS,
  });
  const chooseFirst = (event: Event) => {
    event.preventDefault();
    const [first] = found.value ?? [];
    if (first) location.hash = hashOf({ ...route, player: first.playerId });
    if (first) setText('');
  };
  return (
    <form role="search" onSubmit={chooseFirst}>
      <input
        type="search"
        aria-label="Find a player"
        placeholder="Find a player"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {text !== '' && <Found {...{ route, found }} onChoose={() => setText('')} />}
    </form>
  );
}

interface FoundProps {
  readonly route: Route;
  readonly found: Answer<readonly Standing[]>;
  readonly onChoose: () => void;
}

function Found({ route, found: { value, problem }, onChoose }: FoundProps) {
  if (value === undefined) return <ProblemNotice problem={problem} />;
  const count = value.length === MOST_FOUND ? `The first ${MOST_FOUND}` : value.length;
  return (
    <>
      <p role="status">{count} players of this view have this in their id.</p>
      <ul class="found">
        {value.map(({ playerId, rank }) => (
          <li key={playerId}>
            <a href={hashOf({ ...route, player: playerId })} onClick={onChoose}>
              {playerId}
            </a>{' '}
            rank {rank}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Players of the view whose ids contain the text, the one with exactly this id first. Looks at some 5,000 players. */
async function search({ board, window, where }: Route, text: string): Promise<Standing[]> {
  const { standing } = await reader.player(board, text, { window, where });
  const found = new Map(standing && [[text, standing]]);
  let page: SearchPage | undefined;
  for (let step = 0; step < MOST_STEPS && found.size < MOST_FOUND; step++) {
    page = await reader.search(board, text, { window, where, after: page?.next });
    for (const entry of page.entries) found.set(entry.playerId, entry);
    if (page.next === undefined) break;
  }
  return [...found.values()].slice(0, MOST_FOUND);
}

/** A player whom a link to the page shows does not take the focus. */
const OPENED_WITH = location.hash;

/** However many rank changes come, the player is read again once in this time. */
const EVENTS_MS = 500;

/** A player in a view: place, neighbours, the histogram of the view, and the last ranks. Read again when his rank changes. */
export function Player({ route }: { route: Chosen }) {
  const { board, player } = route;
  const [time, setTime] = useState(0);
  const path = `${boardPath(board)}/players/${encodeURIComponent(player)}`;
  useEvents(`${path}/events`, ['rank-change', 'reset'], () =>
    setTime(Math.floor(performance.now() / EVENTS_MS)),
  );
  const { value, problem } = usePolled(hashOf(route), {
    read: () => readPlayer(route, path),
    everyMs: POLL_MS,
    trigger: time,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash !== OPENED_WITH) heading.current?.focus();
  }, []);
  return (
    <section class="card player" aria-label={`Player ${player}`} data-panel="player">
      <div class="line">
        <h2 ref={heading} tabIndex={-1}>
          {player}
        </h2>
        <a href={hashOf({ ...route, player: undefined })}>Close</a>
      </div>
      {!value && <ProblemNotice problem={problem} />}
      {value?.standing === null && <p class="notice">This player has no score in this view.</p>}
      {value?.standing && <Details {...value} route={route} standing={value.standing} />}
    </section>
  );
}

type DetailsProps = Awaited<ReturnType<typeof readPlayer>> & {
  readonly route: Route;
  readonly standing: Standing;
};

function Details({ route, around, buckets, changes, ...place }: DetailsProps) {
  const { playerId, view, standing } = place;
  return (
    <>
      <Place {...place} />
      {'problem' in changes ? (
        <ProblemNotice {...changes} />
      ) : (
        <RankPlot view={view} {...changes} />
      )}
      <Histogram buckets={buckets} columns={standing.columns} />
      <h3>Around {playerId}</h3>
      <Table route={route} view={view} entries={around} />
    </>
  );
}

type Chosen = Route & { readonly player: string };

async function readPlayer({ board, player, window, where }: Chosen, path: string) {
  const view = { window, where };
  const [place, around, { buckets }, changes] = await Promise.all([
    reader.player(board, player, { ...view, gaps: true }),
    reader.around(board, player, { ...view, above: 3, below: 3 }),
    reader.histogram(board, { ...view, buckets: 24 }),
    getJson<RankChanges>(`${path}/changes`).catch(problemIn),
  ]);
  return { ...place, around: around.entries, buckets, changes };
}

function Place({ standing, size, above, below }: PlayerStanding & { standing: Standing }) {
  const { rank, percentile, columns, reachedAt } = standing;
  const facts = {
    ...columns,
    reached: timeText(reachedAt),
    'to the player ahead': gapText(above),
    'to the player behind': gapText(below),
  };
  return (
    <>
      <p class="place" role="status">
        <span class="hidden">Rank </span>
        <strong data-place={rank}>{rank}</strong> of {countText(size)}, ahead of {percentile} %
      </p>
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{labelOf(name)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** The first column in which two neighbours differ. */
function gapText(neighbour: Neighbour | null | undefined): string {
  if (!neighbour) return 'none';
  const differing = Object.entries(neighbour.gap).find(([, gap]) => Number(gap) !== 0);
  return differing ? `${differing[1]} ${differing[0]}` : 'tied';
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
  const same =
    mine && `: ${countText(mine.count)} of them have ${mine.min} to ${mine.max}, this one included`;
  return (
    <Plot text={`All players by ${name}${same ?? ''}`}>
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
