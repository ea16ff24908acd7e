import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { HttpView, Standing } from '#http';
import { PAGE_SIZE, POLL_MS, reader, usePolled, useStandings, type Connection } from './data.js';
import { countText, labelOf, ProblemNotice, timeText } from './parts.js';
import { Player, PlayerSearch } from './player.js';
import { completed, hashOf, valuesOf, windowChoices, type Board, type Route } from './route.js';

interface Shown {
  readonly board: Board;
  readonly route: Route;
}

/** A board: pickers of its view, the live table, and the chosen player. Without a chosen view, the one that changed last. */
export function BoardPage({ board, route }: Shown) {
  const read = () => reader.views(board.board);
  const { value: views, problem } = usePolled('views', { read, everyMs: 5 * POLL_MS });
  useEffect(() => {
    if (route.window !== undefined || views === undefined) return;
    const [[window] = ['all']] = windowChoices(board, []);
    const where = completed(views, board.dimensions[0] ?? [], {});
    location.replace(hashOf({ ...route, window, where }));
  });
  return (
    <>
      <h1>{board.board}</h1>
      {views ? <Pickers {...{ board, route, views }} /> : <ProblemNotice problem={problem} />}
      {route.window !== undefined && <View route={{ ...route, window: route.window }} />}
    </>
  );
}

function Pickers({ board, route, views }: Shown & { views: readonly HttpView[] }) {
  const { window = '', where } = route;
  const names = Object.keys(where);
  const go = (to: Partial<Route>) => (location.hash = hashOf({ ...route, from: 1, ...to }));
  const choose = (list: readonly string[], values: Route['where']) =>
    go({ where: completed(views, list, values) });
  const rankings = board.dimensions.map((list) => [
    list.join(' '),
    labelOf(list.join(', ')) || 'Overall',
  ]);
  return (
    <div class="line" role="group" aria-label="View">
      <Picker
        label="Window"
        value={window}
        onChoose={(name) => go({ window: name })}
        options={windowChoices(board, views)}
      />
      <Picker
        label="Ranked by"
        value={names.join(' ')}
        options={rankings}
        onChoose={(list) => choose(list.split(' ').filter(Boolean), where)}
      />
      {names.map((name) => (
        <Picker
          key={name}
          label={name}
          value={where[name] ?? ''}
          options={valuesOf(views, where, name).map((value) => [value])}
          onChoose={(value) => choose(names, { ...where, [name]: value })}
        />
      ))}
    </div>
  );
}

interface PickerProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly (string | undefined)[])[];
  readonly onChoose: (value: string) => void;
}

function Picker({ label, value, options, onChoose }: PickerProps) {
  return (
    <label>
      {labelOf(label)}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([name, text = name]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const CONNECTIONS: Record<Connection, string> = {
  connecting: 'Connecting',
  live: 'Live',
  polled: 'Read every 2 s',
  stale: 'Stale: ranks may be wrong until all events are applied again',
  disconnected: 'Disconnected: ranks as last read',
};

function View({ route }: { route: Route & { readonly window: string } }) {
  const { board, player } = route;
  const { value, problem, connection, moves } = useStandings(board, route);
  return (
    <div class="columns">
      <section class="card" aria-label="Standings">
        <div class="line">
          <span role="status" class="connection" data-connection={connection}>
            {CONNECTIONS[connection]}
          </span>
          <span>{value && `${countText(value.size)} players`}</span>
          <code>{value?.view}</code>
        </div>
        <PlayerSearch key={value?.view} route={route} />
        {!value && <ProblemNotice problem={problem} />}
        {value && <Table route={route} {...value} moves={moves} />}
        {value?.size === 0 && (
          <p class="notice">
            No player has a score in this view yet. Send score events, for example with{' '}
            <code>ranklog produce</code>.
          </p>
        )}
        {value && <Paging route={route} size={value.size} />}
      </section>
      {player !== undefined && <Player key={player} route={{ ...route, player }} />}
    </div>
  );
}

interface TableProps {
  readonly route: Route;
  readonly view: string;
  readonly entries: readonly Standing[];
  /** By player: how many ranks he rose with his last move. */
  readonly moves?: ReadonlyMap<string, number>;
}

/** Standings whose rows move to their new ranks. */
export function Table({ route, view, entries, moves }: TableProps) {
  const body = useMovingRows(view);
  return (
    <table data-table="standings">
      <thead>
        <tr>
          <th scope="col">Rank</th>
          <th scope="col">Player</th>
          {Object.keys(entries[0]?.columns ?? {}).map((name) => (
            <th key={name} scope="col" class="number">
              {labelOf(name)}
            </th>
          ))}
          <th scope="col" class="number time">
            Reached
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {entries.map((entry) => (
          <Row key={entry.playerId} {...{ route, entry, by: moves?.get(entry.playerId) }} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ route, entry, by }: { route: Route; entry: Standing; by: number | undefined }) {
  const { rank, competitionRank, playerId, columns, reachedAt } = entry;
  return (
    <tr data-player={playerId} data-chosen={route.player === playerId ? '' : undefined}>
      <td data-rank={rank}>
        <span class="rank">{rank}</span>
        {competitionRank < rank && <small>tied {competitionRank}</small>}
        {by !== undefined && (
          <small
            class={by > 0 ? 'up' : 'down'}
            aria-label={`${by > 0 ? 'up' : 'down'} ${Math.abs(by)}`}
            role="img"
          >
            {Math.abs(by)}
          </small>
        )}
      </td>
      <th scope="row">
        <a href={hashOf({ ...route, player: playerId })}>{playerId}</a>
      </th>
      {Object.entries(columns).map(([name, value]) => (
        <td key={name} class="number">
          {value}
        </td>
      ))}
      <td class="number time">{timeText(reachedAt)}</td>
    </tr>
  );
}

const MOVE_MS = 450;

/** Lets each row glide to its new place, unless the user wants less motion. Starts anew with each `view`. */
function useMovingRows(view: string) {
  const body = useRef<HTMLTableSectionElement>(null);
  const before = useRef({ view, tops: new Map<string, number>() });
  useLayoutEffect(() => {
    const tops = new Map<string, number>();
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    for (const row of body.current?.rows ?? []) {
      const { player = '' } = row.dataset;
      tops.set(player, row.offsetTop);
      const from = before.current.view === view ? before.current.tops.get(player) : undefined;
      const by = (from ?? row.offsetTop) - row.offsetTop;
      if (by === 0 || isCalm) continue;
      const glide = { transform: [`translateY(${by}px)`, 'none'] };
      // added to a glide that still runs, so that the row does not jump
      row.animate(glide, { duration: MOVE_MS, easing: 'ease-in-out', composite: 'add' });
      const tint = by > 0 ? 'var(--up-tint)' : 'var(--down-tint)';
      row.animate({ backgroundColor: [tint, 'transparent'] }, 3 * MOVE_MS);
    }
    before.current = { view, tops };
  });
  return body;
}

function Paging({ route, size }: { route: Route; size: number }) {
  const { from } = route;
  const [before, after] = [Math.max(1, from - PAGE_SIZE), from + PAGE_SIZE];
  if (size <= PAGE_SIZE && from === 1) return null;
  return (
    <nav class="line" aria-label="Ranks">
      {from > 1 && <a href={hashOf({ ...route, from: before })}>Previous {PAGE_SIZE}</a>}
      <span>
        Ranks {from} to {Math.min(size, after - 1)}
      </span>
      {after <= size && <a href={hashOf({ ...route, from: after })}>Next {PAGE_SIZE}</a>}
    </nav>
  );
}
