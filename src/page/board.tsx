import { useEffect } from 'preact/hooks';
import type { HttpView } from '#http';
import { PAGE_SIZE, reader, usePolled, useStandings, type Connection } from './data.js';
import { countText, labelOf, ProblemNotice, Table } from './parts.js';
import { Player, PlayerSearch } from './player.js';
import { completed, hashOf, valuesOf, windowChoices, type Board, type Route } from './route.js';

interface Shown {
  readonly board: Board;
  readonly route: Route;
}

/** A listing can be long: about 10,000 views a request. */
const VIEWS_MS = 30_000;

/** A board: pickers of its view, the live table, and the chosen player. Without a chosen view, the one that changed last. */
export function BoardPage({ board, route }: Shown) {
  const read = () => reader.views(board.board);
  const { value: views, problem } = usePolled('views', { read, everyMs: VIEWS_MS });
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
