import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { HttpReadError, type Standing } from '#http';
import { TOKEN, type Answer } from './data.js';
import { hashOf, type Route } from './route.js';

/**
 * Shows the error of the service, and asks for a token if the service needs one. Without an answer,
 * shows that the page loads.
 */
export function ProblemNotice({ problem }: Pick<Answer<object>, 'problem'>) {
  const isAnswer = problem instanceof HttpReadError && problem.status > 0;
  return (
    <div class="notice" role="status">
      {isAnswer ? problem.message : 'Loading…'}
      {isAnswer && [401, 403].includes(problem.status) && <TokenForm />}
    </div>
  );
}

function TokenForm() {
  const use = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.target as HTMLFormElement).get('token') as string;
    sessionStorage.setItem(TOKEN, given);
    location.reload();
  };
  return (
    <form class="line" onSubmit={use}>
      <input name="token" type="password" aria-label="Token" pattern="[!-~]+" required />
      <button>Use this token</button>
    </form>
  );
}

const TIMES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/**
 * A time for people. `time` is a number of ms if it is outside the years 0001 to 9999; such a time
 * is shown unchanged.
 */
export const timeText = (time: string) => {
  const date = new Date(time);
  return Number.isNaN(date.valueOf()) ? time : TIMES.format(date);
};
export const countText = (count: number) => count.toLocaleString('en');

/** The name of a field as a label: `goalDifference` is goal difference. */
export const labelOf = (name: string) =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Names and values, without those that are null. */
export function Facts({ facts }: { facts: (readonly [name: string, value: unknown])[] }) {
  return (
    <dl>
      {facts.map(([name, value]) => (
        <div key={name} hidden={value === null}>
          <dt>{labelOf(name)}</dt>
          <dd>{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function textOf(value: unknown): ComponentChildren {
  if (typeof value === 'number') return countText(value);
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? timeText(value) : (value as ComponentChildren);
}

export function Table({ route, entries }: { route: Route; entries: readonly Standing[] }) {
  const columns = Object.keys(entries[0]?.columns ?? {});
  return (
    <table data-table="standings">
      <thead>
        <tr>
          {['rank', 'player', ...columns, 'reached'].map((name) => (
            <th key={name}>{labelOf(name)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.playerId} route={route} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ route, entry }: { route: Route; entry: Standing }) {
  const { rank, competitionRank, playerId, columns, reachedAt } = entry;
  const { row, rise } = useMoves(rank);
  const [way, sign] = rise > 0 ? ['up', '▲'] : ['down', '▼'];
  const by = Math.abs(rise);
  return (
    <tr ref={row} data-player={playerId} data-chosen={route.player === playerId ? '' : undefined}>
      <td data-rank={rank}>
        <span class="rank">{rank}</span>
        {competitionRank < rank && <small>tied {competitionRank}</small>}
        {rise !== 0 && (
          <small class={way} role="img" aria-label={`${way} ${by}`}>
            {sign} {by}
          </small>
        )}
      </td>
      <th scope="row">
        <a href={hashOf({ ...route, player: playerId })}>{playerId}</a>
      </th>
      {[...Object.values(columns), timeText(reachedAt)].map((value, index) => (
        <td key={index}>{value}</td>
      ))}
    </tr>
  );
}

/**
 * Lets a row glide to its new place, unless the user wants less motion. `rise`: by how many ranks
 * it rose with its last move.
 */
function useMoves(rank: number) {
  const row = useRef<HTMLTableRowElement>(null);
  const before = useRef<{ rank: number; top: number }>(undefined);
  const [rise, setRise] = useState(0);
  useLayoutEffect(() => {
    const top = row.current?.offsetTop ?? 0;
    const last = before.current ?? { rank, top };
    before.current = { rank, top };
    if (last.rank !== rank) setRise(last.rank - rank);
    if (last.top === top || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const glide = { transform: [`translateY(${last.top - top}px)`, 'none'] };
    // Adds this move to a glide that still runs, so that the row does not jump.
    row.current?.animate(glide, { duration: 450, easing: 'ease-in-out', composite: 'add' });
  });
  return { row, rise };
}
