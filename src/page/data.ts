import { useEffect, useState } from 'preact/hooks';
import { HttpBoardReader, HttpReadError, type Standings } from '#http';
import type { Route } from './route.js';

/** The folder of the page without its last slash: a proxy may serve ranklog below a path. */
const BASE = new URL('.', location.href).pathname.replace(/\/$/, '');

export const reader = new HttpBoardReader({ url: BASE });

/** Reads what HttpBoardReader does not. @throws HttpReadError */
export async function getJson<T extends object>(path: string): Promise<T> {
  const response = await fetch(BASE + path, { signal: AbortSignal.timeout(10_000) });
  const body = (await response.json()) as T | { code: string; detail: string };
  if ('detail' in body) throw new HttpReadError(body.code, body.detail, response.status);
  return body;
}

export interface Answer<T> {
  readonly value?: T;
  /** Why the last read failed; then `value` is older. */
  readonly problem?: HttpReadError | undefined;
}

interface Reading<T> {
  readonly read: () => Promise<T>;
  /** undefined: not at all */
  readonly everyMs: number | undefined;
  /** Reads at once when it changes. */
  readonly trigger?: unknown;
}

/** Reads now, and `everyMs` after each answer. Forgets the answer when `key` changes. */
export function usePolled<T>(key: string, { read, everyMs, trigger }: Reading<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { key: string }>({ key });
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isEnded = false;
    const step = async () => {
      const next = await read().then((value) => ({ value, problem: undefined }), problemIn);
      if (isEnded) return;
      setAnswer((before) => ({ ...(before.key === key && before), ...next, key }));
      timer = setTimeout(() => void step(), everyMs);
    };
    void step();
    return () => {
      isEnded = true;
      clearTimeout(timer);
    };
  }, [key, everyMs, trigger]);
  return answer.key === key ? answer : {};
}

export function problemIn(error: unknown): { problem: HttpReadError } {
  if (error instanceof HttpReadError) return { problem: error };
  return { problem: new HttpReadError('UNREACHABLE', String(error), 0) };
}

/** A browser connects again by itself, except after an answer that is an error. */
const REOPEN_MS = 15_000;
export const POLL_MS = 2_000;
export const PAGE_SIZE = 100;

/** Listens to a stream while there is a path. Returns whether it is open. */
export function useEvents(
  path: string | undefined,
  names: readonly string[],
  onEvent: (data: string) => void,
): boolean {
  const [openPath, setOpenPath] = useState<string>();
  useEffect(() => {
    if (path === undefined) return undefined;
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      source = new EventSource(BASE + path);
      for (const name of names) source.addEventListener(name, ({ data }) => onEvent(String(data)));
      source.addEventListener('open', () => setOpenPath(path));
      source.addEventListener('error', () => {
        setOpenPath(undefined);
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, REOPEN_MS);
      });
    };
    connect();
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [path]);
  return path !== undefined && openPath === path;
}

export const boardPath = (board: string) => `/v1/boards/${encodeURIComponent(board)}`;

export type Connection = 'connecting' | 'live' | 'polled' | 'stale' | 'disconnected';

interface Shown {
  readonly key: string;
  readonly value?: Standings;
  readonly moves: ReadonlyMap<string, number>;
}

/** A page of a view as it changes: the first one from a stream if the board has streams, any other by polling. */
export function useStandings(board: string, { window, where, from }: Route & { window: string }) {
  const path = streamOf(board, { window, where });
  const key = `${path} ${from}`;
  const [kept, setKept] = useState<Shown>({ key, moves: new Map() });
  const shown = kept.key === key ? kept : { key, moves: new Map<string, number>() };
  const show = (value: Standings) => setKept((before) => withMoves(before, key, value));
  const isOpen = useEvents(
    from === 1 ? path : undefined,
    ['snapshot', 'standings', 'reset'],
    (data) => show(JSON.parse(data) as Standings),
  );
  const isLive = isOpen && shown.value?.stale === false;
  const polled = usePolled(key, {
    read: () => reader.standings(board, { window, where, from, limit: PAGE_SIZE }),
    everyMs: isLive ? undefined : POLL_MS,
  });
  useEffect(() => {
    if (polled.value) show(polled.value);
  }, [polled.value]);
  const problem = isLive ? undefined : polled.problem;
  return { ...shown, problem, connection: connectionOf({ ...shown, problem }, isLive) };
}

function connectionOf({ value, problem }: Answer<Standings>, isLive: boolean): Connection {
  if (problem?.retriable === true) return 'disconnected';
  if (value === undefined) return 'connecting';
  if (value.stale) return 'stale';
  return isLive ? 'live' : 'polled';
}

function streamOf(
  board: string,
  { window, where }: Pick<Route, 'where'> & { window: string },
): string {
  const fields = Object.entries(where).map(([name, value]) => [`where.${name}`, value]);
  const query = new URLSearchParams([['window', window], ['limit', String(PAGE_SIZE)], ...fields]);
  return `${boardPath(board)}/standings/events?${query.toString()}`;
}

/** Adds by how many ranks players have risen since the last answer, if that was of the same page. */
function withMoves(
  { key: known, value: before, moves }: Shown,
  key: string,
  value: Standings,
): Shown {
  if (known !== key || before === undefined) return { key, value, moves: new Map() };
  const ranks = new Map(before.entries.map(({ playerId, rank }) => [playerId, rank]));
  const rises = value.entries.map(
    ({ playerId, rank }) => [playerId, (ranks.get(playerId) ?? rank) - rank] as const,
  );
  return { key, value, moves: new Map([...moves, ...rises.filter(([, by]) => by !== 0)]) };
}
