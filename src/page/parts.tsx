import { useLayoutEffect, useRef } from 'preact/hooks';
import type { HttpReadError, Standing } from '#http';
import { hashOf, type Route } from './route.js';

/** What failed and what to do, in the words of the service; without a problem, that it loads. */
export function ProblemNotice({ problem }: { problem: HttpReadError | undefined }) {
  const isAway = problem?.code === 'UNREACHABLE';
  const text = problem?.message.slice(problem.code.length + 2) ?? 'Loading…';
  return (
    <p class="notice" role="status" data-problem={problem?.code}>
      {isAway ? 'The service does not answer; this page tries again.' : text}
    </p>
  );
}

const TIMES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
export const timeText = (time: string) => TIMES.format(new Date(time));
export const countText = (count: number) => count.toLocaleString('en');

/** The name of a field as a label: `goalDifference` is Goal difference. */
export function labelOf(name: string): string {
  const words = name.replaceAll(
    /[a-z][A-Z]/g,
    ([end, begin = '']: string) => `${end} ${begin.toLowerCase()}`,
  );
  return words.charAt(0).toUpperCase() + words.slice(1);
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
