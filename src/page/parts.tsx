import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { HttpReadError, Standing } from '#http';
import { hashOf, type Route } from './route.js';

/** What failed and what to do, in the words of the service; without a problem, that it loads. */
export function ProblemNotice({ problem }: { problem: HttpReadError | undefined }) {
  const isAway = problem?.code === 'UNREACHABLE';
  const text = problem?.message.slice(problem.code.length + 2) ?? 'Loading…';
  return (
    <p class="notice" role="status">
      {isAway ? 'The service does not answer; this page tries again.' : text}
    </p>
  );
}

const TIMES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
export const timeText = (time: string) => TIMES.format(new Date(time));
export const countText = (count: number) => count.toLocaleString('en');

/** The name of a field as a label: `goalDifference` is Goal difference. */
export function labelOf(name: string): string {
  const words = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The labels of the columns of a table. */
export function Head({ names }: { names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {labelOf(name)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Standings whose rows move to their new ranks. */
export function Table({ route, entries }: { route: Route; entries: readonly Standing[] }) {
  const columns = Object.keys(entries[0]?.columns ?? {});
  return (
    <table data-table="standings">
      <Head names={['rank', 'player', ...columns, 'reached']} />
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.playerId} {...{ route, entry }} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ route, entry }: { route: Route; entry: Standing }) {
  const { rank, competitionRank, playerId, columns, reachedAt } = entry;
  const { row, rise } = useMoves(rank);
  return (
    <tr ref={row} data-player={playerId} data-chosen={route.player === playerId ? '' : undefined}>
      <td data-rank={rank}>
        <span class="rank">{rank}</span>
        {competitionRank < rank && <small>tied {competitionRank}</small>}
        {rise !== 0 && <Rise by={rise} />}
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

function Rise({ by }: { by: number }) {
  const [name, sign] = by > 0 ? ['up', '▲'] : ['down', '▼'];
  return (
    <small class={name} role="img" aria-label={`${name} ${Math.abs(by)}`}>
      {sign} {Math.abs(by)}
    </small>
  );
}

const MOVE_MS = 450;

/** Lets a row glide to its new place, unless the user wants less motion. `rise`: by how many ranks it rose with its last move. */
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
    // added to a glide that still runs, so that the row does not jump
    row.current?.animate(glide, { duration: MOVE_MS, easing: 'ease-in-out', composite: 'add' });
    const tint = `color-mix(in srgb, var(${last.top > top ? '--up' : '--down'}) 25%, transparent)`;
    row.current?.animate({ backgroundColor: [tint, 'transparent'] }, 3 * MOVE_MS);
  });
  return { row, rise };
}
