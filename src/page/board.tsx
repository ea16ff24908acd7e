import { useEffect, useState } from 'preact/hooks';
import type { HttpView, Standing, Standings } from '#http';
import { reader, useAnswer, type Answer } from './data.js';
import { countText, labelOf, ProblemNotice, Table } from './parts.js';
import { Player } from './player.js';
import { hashOf, nearest, queryOf, valuesOf, windowsOf, type Board, type Route } from './route.js';

const PAGE_SIZE = 100;
/** A listing can be long: about 10,000 views a request. */
const VIEWS_MS = 30_000;

/** A board: pickers of its view, the live table, and the chosen player. */
export function BoardPage({ route }: { route: Route }) {
  const { board: name, window } = route;
  const read = async () => {
    const [board, views] = await Promise.all([reader.board(name), reader.views(name)]);
    return { board: board as unknown as Board, views };
  };
  const { value, problem } = useAnswer('board', { read, everyMs: VIEWS_MS });
  useEffect(() => {
    if (window !== undefined || value === undefined) return;
    const [first] = windowsOf(value.board, []);
    location.replace(hashOf({ ...route, window: first, where: nearest(value.views, {}) }));
  });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  return (
    <>
      <Pickers route={route} {...value} />
      {window !== undefined && <View route={route} />}
    </>
  );
}

type PickersProps = { board: Board; views: readonly HttpView[]; route: Route };

/** A choice of the window and of each dimension, where there is more than one. */
function Pickers({ board, route, views }: PickersProps) {
  const { window = '', where } = route;
  const pickers = [
    ['window', window, windowsOf(board, views)] as const,
    ...[...new Set(board.dimensions.flat())].map(
      (name) => [name, where[name] ?? '', valuesOf(views, where, name)] as const,
    ),
  ];
  const choose = (index: number, name: string, value: string) => {
    const to =
      index === 0 ? { window: value } : { where: nearest(views, where, { [name]: value }) };
    location.hash = hashOf({ ...route, from: 1, ...to });
  };
  return (
    <div class="line" role="group" aria-label="View">
      {pickers.map(([name, value, others], index) => {
        const options = [...new Set([...others, value])];
        if (options.length === 1) return null;
        return (
          <label key={name}>
            {labelOf(name)}
            <select
              value={value}
              onChange={({ currentTarget }) => choose(index, name, currentTarget.value)}
            >
              {options.map((option) => (
                <option key={option} value={option}>
                  {option || 'all'}
                </option>
              ))}
            </select>
          </label>
        );
      })}
    </div>
  );
}

/** How current the table is: for tests, its colour, and in words. */
function connectionOf({ value, problem, isLive }: Answer<Standings>) {
  if (value === undefined) return ['connecting', '', 'Connecting'];
  if (problem) return ['disconnected', 'down', 'Disconnected: ranks as last read'];
  if (value.stale)
    return ['stale', 'down', 'Stale: ranks may be wrong until all events are applied again'];
  return isLive ? ['live', 'up', 'Live'] : ['polled', '', 'Read every second'];
}

/** The table of a view, or the players of a search in it. */
function View({ route }: { route: Route }) {
  const { player } = route;
  const [text, setText] = useState('');
  const answer = useStandings(route);
  const { value, problem } = answer;
  const [connection, color, status] = connectionOf(answer);
  return (
    <div class="columns">
      <section class="card" aria-label="Standings">
        <p class="line">
          <span role="status" class={color} data-connection={connection}>
            {status}
          </span>
          <span>{value && `${countText(value.size)} players`}</span>
          <code>{value?.view}</code>
        </p>
        <input
          type="search"
          aria-label="Find a player"
          placeholder="Find a player"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {!value && <ProblemNotice problem={problem} />}
        {value && text === '' && <Page {...{ route, value }} />}
        {value && text !== '' && <Found key={value.view} {...{ route, text }} />}
      </section>
      {player !== undefined && <Player key={player} route={{ ...route, player }} />}
    </div>
  );
}

/** A page of a view as it changes: the first one from its stream if it has one, any other by polling. */
function useStandings({ board, window, where, from }: Route): Answer<Standings> {
  const query = queryOf({ window, limit: PAGE_SIZE }, where);
  const stream = `/v1/boards/${encodeURIComponent(board)}/standings/events?${query}`;
  return useAnswer(`${query} ${from}`, {
    read: () => reader.standings(board, { window, where, from, limit: PAGE_SIZE }),
    stream: from === 1 ? stream : undefined,
  });
}

function Page({ route, value }: { route: Route; value: Standings }) {
  const { view, entries, size } = value;
  const { from } = route;
  const [before, after] = [Math.max(1, from - PAGE_SIZE), from + PAGE_SIZE];
  return (
    <>
      <Table key={`${view} ${from}`} {...{ route, entries }} />
      {size === 0 && <p class="notice">No player has a score in this view yet.</p>}
      <nav class="line" aria-label="Ranks">
        {from > 1 && <a href={hashOf({ ...route, from: before })}>Previous {PAGE_SIZE}</a>}
        {after <= size && <a href={hashOf({ ...route, from: after })}>Next {PAGE_SIZE}</a>}
      </nav>
    </>
  );
}

function Found({ route, text }: { route: Route; text: string }) {
  const read = () => search(route, text);
  const { value: entries, problem } = useAnswer(text, { read, everyMs: SEARCH_MS });
  if (entries === undefined) return <ProblemNotice problem={problem} />;
  return (
    <>
      <p role="status">Players found: {entries.length}</p>
      <Table key={text} {...{ route, entries }} />
    </>
  );
}

/** A search has up to 5 steps, each of which looks at about 1,000 players. */
const MOST_STEPS = 5;
const SEARCH_MS = 10_000;

/** Players of the view whose ids contain the text, and the one with exactly this id. */
async function search({ board, window, where }: Route, text: string): Promise<Standing[]> {
  const { standing } = await reader.player(board, text, { window, where });
  const found = new Map(standing && [[text, standing]]);
  let after: string | undefined;
  for (let step = 0; step < MOST_STEPS && found.size < PAGE_SIZE; step++) {
    const page = await reader.search(board, text, { window, where, after });
    for (const entry of page.entries) found.set(entry.playerId, entry);
    after = page.next;
    if (after === undefined) break;
  }
  return [...found.values()].slice(0, PAGE_SIZE).sort((one, other) => one.rank - other.rank);
}
