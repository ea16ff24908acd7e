import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { BoardPage } from './board.js';
import { getJson, POLL_MS, reader, usePolled, type Answer } from './data.js';
import { Operations, type Health } from './operations.js';
import { ProblemNotice } from './parts.js';
import { hashOf, routeOf, windowChoices, type Board } from './route.js';
import './style.css';

function App() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const route = routeOf(hash);
  useEffect(() => void (document.title = `${route.board || route.page} · ranklog`), [hash]);
  const health = usePolled('health', { read: () => getJson<Health>('/health'), everyMs: POLL_MS });
  const boards = usePolled('boards', { read: () => reader.boards(), everyMs: 5 * POLL_MS });
  const known = boards.value as Board[] | undefined;
  const board = known?.find((one) => one.board === route.board);
  return (
    <>
      <Header isOperations={route.page === 'operations'} />
      <HealthBanner health={health} />
      <main data-page={route.page}>
        {!known && <ProblemNotice problem={boards.problem} />}
        {route.page === 'operations' && <Operations health={health.value} />}
        {route.page === 'boards' && known && <Boards boards={known} />}
        {board && <BoardPage key={board.board} board={board} route={route} />}
        {route.page === 'board' && known && !board && (
          <>
            <h1>{route.board}</h1>
            <p class="notice">
              There is no such board. <a href="#">Choose another one.</a>
            </p>
          </>
        )}
      </main>
    </>
  );
}

function Header({ isOperations }: { isOperations: boolean }) {
  return (
    <header>
      <nav aria-label="Pages">
        <a class="brand" href="#">
          ranklog
        </a>
        <a href="#" aria-current={isOperations ? undefined : 'page'}>
          Boards
        </a>
        <a href="#operations" aria-current={isOperations ? 'page' : undefined}>
          Operations
        </a>
      </nav>
      <ThemeButton />
    </header>
  );
}

/** Switches between light and dark; without a choice, the page follows the system. */
function ThemeButton() {
  const [theme, setTheme] = useState(() => localStorage.getItem('theme') ?? systemTheme());
  const other = theme === 'dark' ? 'light' : 'dark';
  const choose = () => {
    localStorage.setItem('theme', other);
    setTheme(other);
  };
  useEffect(() => void (document.documentElement.dataset['theme'] = theme), [theme]);
  return (
    <button type="button" onClick={choose}>
      {other === 'dark' ? 'Dark' : 'Light'}
      <span class="hidden"> colours</span>
    </button>
  );
}

const systemTheme = () => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Says what is wrong with the service, while something is. */
function HealthBanner({ health: { value, problem } }: { health: Answer<Health> }) {
  const away = 'The service does not answer. This page shows what it read last, and tries again.';
  const problems = problem ? [away] : (value?.problems ?? []);
  return (
    <div role="status" data-health={problem ? 'unreachable' : value?.status}>
      {problems.map((text) => (
        <p key={text} class="notice">
          {text}
        </p>
      ))}
    </div>
  );
}

function Boards({ boards }: { boards: readonly Board[] }) {
  if (boards.length === 0)
    return (
      <p class="notice">
        No board is live yet. Write a boards file and apply it with{' '}
        <code>ranklog boards apply</code>.
      </p>
    );
  return (
    <>
      <h1>Boards</h1>
      <ul class="boards">
        {boards.map((board) => (
          <li key={board.board} class="card">
            <h2>
              <a href={hashOf({ board: board.board })}>{board.board}</a>
            </h2>
            <p>Ranked by {board.columns.map(({ name }) => name).join(', then ')}</p>
            <p>
              {windowChoices(board, [])
                .map(([, label]) => label)
                .join(', ')}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

render(<App />, document.getElementById('app') ?? document.body);
