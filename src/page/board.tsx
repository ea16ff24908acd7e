import { useState } from 'preact/hooks';
import type { Standing, Standings } from '#http';
import { boardPath, getJson, reader, useAnswer, type Answer } from './data.js';
import { countText, labelOf, ProblemNotice, Table, timeText } from './parts.js';
import { Player } from './player.js';
import { choicesOf, hashOf, nearest, partsOf, queryOf, valuesOf, type Route } from './route.js';

const PAGE_SIZE = 100;
/** A listing can be long: about 10,000 views a request. */
const VIEWS_MS = 30_000;

/** A board: pickers of its view, the live table, and the chosen player. */
export function BoardPage({ route }: { route: Route }) {
  const read = () => reader.views(route.board);
  const { value, problem } = useAnswer('views', { read, everyMs: VIEWS_MS });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  const choices = choicesOf(value);
  const shown = { ...route, view: route.view ?? choices[0] };
  return (
    <>
      <Pickers choices={choices} route={shown} />
      <View route={shown} />
    </>
  );
}

/** A choice of the window and of each dimension, where there is more than one. */
function Pickers({ choices, route }: { choices: readonly string[]; route: Route }) {
  const parts = partsOf(route.view ?? '');
  const choose = (name: string, value: string) => {
    const view = nearest(choices, parts, [name, value]);
    location.hash = hashOf({ ...route, from: undefined, view });
  };
  const pickers = valuesOf(choices, parts).filter(([, values]) => values.length > 1);
  return (
    <div class="line" role="group" aria-label="View">
      {pickers.map(([name, values]) => (
        <label key={name}>
          {labelOf(name || 'window')}
          <select
            value={parts[name] ?? ''}
            onChange={({ currentTarget }) => choose(name, currentTarget.value)}
          >
            {values.map((value) => (
              <option key={value} value={value}>
                {value || 'all'}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}

/** How current the table is: as a colour, and in words. */
function stateOf(answer: Answer<Standings>, closed?: Period): [color: string, text: string] {
  const { value, problem, isLive } = answer;
  if (value === undefined) return ['', 'Connecting'];
  if (problem) return ['down', 'Disconnected: ranks as last read'];
  if (value.stale) return ['down', 'Stale: ranks may be wrong until all events are applied again'];
  if (closed) return ['', closed.state === 'announced' ? 'Final result' : 'Provisional result'];
  return isLive ? ['up', 'Live'] : ['', 'Read every second'];
}

function View({ route }: { route: Route }) {
  const { player } = route;
  const [text, setText] = useState('');
  const answer = useStandings(route);
  const { value, problem } = answer;
  const closed = useClosedPeriod(route.board, value?.view);
  const [color, state] = stateOf(answer, closed);
  return (
    <div class="grid columns">
      {player !== undefined && <Player key={player} route={{ ...route, player }} />}
      <section class="card" aria-label="Standings">
        <p class="line">
          <span role="status" class={color}>
            {state}
          </span>
          {closed && <span>{closingText(closed)}</span>}
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
    </div>
  );
}

/** A page of a view as it changes. The first page comes from a stream; other pages are polled. */
function useStandings({ board, view, from }: Route): Answer<Standings> {
  const query = queryOf({ view, limit: PAGE_SIZE });
  const stream = `${boardPath(board)}/standings/events?${query}`;
  return useAnswer(`${query} ${from}`, {
    read: () => reader.standings(board, { view, from, limit: PAGE_SIZE }),
    stream: from === undefined ? stream : undefined,
  });
}

/** A period in the answer of `GET .../periods`. */
interface Period {
  readonly window: string;
  readonly state: string;
  readonly revision: number;
  readonly closesAt: string;
  readonly reviewEndsAt: string | null;
  readonly waitsFor: string | null;
}

/** The period of a view; undefined while scores still count, and for a window that never closes. */
function useClosedPeriod(board: string, view = ''): Period | undefined {
  const path = `${boardPath(board)}/periods?limit=1000`;
  const read = () => getJson<{ periods: readonly Period[] }>(path);
  // The service caches periods for ten seconds.
  const { value } = useAnswer('periods', { read, everyMs: 10_000 });
  const window = partsOf(view)[''];
  return value?.periods.find((period) => period.window === window && period.state !== 'open');
}

function closingText({ state, revision, closesAt, reviewEndsAt, waitsFor }: Period): string {
  const closed = `Closed at ${timeText(closesAt)}`;
  if (state === 'announced') return `Result announced (revision ${revision})`;
  if (state === 'review')
    return `${closed}; in review until ${reviewEndsAt ? timeText(reviewEndsAt) : 'a command ends it'}`;
  return state === 'waiting' ? `${closed}; waits for: ${waitsFor}` : closed;
}

function Page({ route, value }: { route: Route; value: Standings }) {
  const { view, entries, size } = value;
  const { from = 1 } = route;
  const before = from - PAGE_SIZE;
  const after = from + PAGE_SIZE;
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
async function search({ board, view }: Route, text: string): Promise<Standing[]> {
  const { entries } = await reader.players(board, [text], { view });
  const found = new Map<string, Standing>(entries.map((entry) => [entry.playerId, entry]));
  let after: string | undefined;
  for (let step = 0; step < MOST_STEPS && found.size < PAGE_SIZE; step++) {
    const page = await reader.search(board, text, { view, after });
    for (const entry of page.entries) found.set(entry.playerId, entry);
    after = page.next;
    if (after === undefined) break;
  }

  const shown = [...found.values()].slice(0, PAGE_SIZE);
  return shown.sort((a, b) => a.rank - b.rank);
}
