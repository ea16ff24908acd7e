import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { HttpReadError } from '#http';
import { BoardPage } from './board.js';
import { getJson, reader, useAnswer } from './data.js';
import { Operations } from './operations.js';
import { ProblemNotice } from './parts.js';
import { hashOf, routeOf } from './route.js';
import './style.css';

function App() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => addEventListener('hashchange', () => setHash(location.hash)), []);
  const route = routeOf(hash);
  const isOperations = hash === '#operations';
  const name = isOperations ? 'Operations' : route.board || 'Boards';
  useEffect(() => {
    document.title = `${name} · ranklog`;
  }, [name]);
  return (
    <>
      <nav class="line pages" aria-label="Pages">
        <strong>ranklog</strong>
        <a href="#" aria-current={isOperations ? undefined : 'page'}>
          Boards
        </a>
        <a href="#operations" aria-current={isOperations ? 'page' : undefined}>
          Operations
        </a>
      </nav>
      <main>
        <h1>{name}</h1>
        <Health />
        {isOperations && <Operations />}
        {!isOperations && route.board === '' && <Boards />}
        {route.board !== '' && <BoardPage key={route.board} route={route} />}
      </main>
    </>
  );
}

function Health() {
  const read = () => getJson<{ age?: number }>('/v1/boards');
  const { value, problem } = useAnswer('health', { read });
  const isAway = problem !== undefined && !(problem instanceof HttpReadError);
  let health: string | undefined;
  let text: string | undefined;
  if (isAway) {
    health = 'unreachable';
    text = 'The service does not answer. This page shows what it read last, and tries again.';
  } else if (value?.age !== undefined) {
    health = 'failing';
    text = 'Redis does not answer: ranks as last read.';
  } else if (value !== undefined) {
    health = 'ok';
  }
  return (
    <div role="status" data-health={health}>
      {text !== undefined && <p class="notice">{text}</p>}
    </div>
  );
}

function Boards() {
  const { value: boards, problem } = useAnswer('boards', { read: () => reader.boards() });
  if (boards === undefined) return <ProblemNotice problem={problem} />;
  return (
    <div class="grid">
      {boards.length === 0 && <p class="notice">No board is live yet.</p>}
      {boards.map(({ board, columns }) => (
        <section key={board} class="card">
          <h2>
            <a href={hashOf({ board })}>{board}</a>
          </h2>
          <p>Ranked by {(columns as { name: string }[]).map(({ name }) => name).join(', then ')}</p>
        </section>
      ))}
    </div>
  );
}

render(<App />, document.body);
