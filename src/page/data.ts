import { useEffect, useState } from 'preact/hooks';
import { HttpBoardReader, HttpReadError, type Standings } from '#http';

/** The folder of the page without its last slash: a proxy may serve ranklog below a path. */
const BASE = new URL('.', location.href).pathname.replace(/\/$/, '');
const POLL_MS = 1_000;
/** A browser connects again by itself, except after an answer that is an error. */
const REOPEN_MS = 15_000;

export const reader = new HttpBoardReader({ url: BASE });

/** Reads what HttpBoardReader does not. @throws HttpReadError */
export async function getJson<T extends object>(path: string): Promise<T> {
  const response = await fetch(BASE + path, { signal: AbortSignal.timeout(10_000) });
  const body = (await response.json()) as T | { code: string; detail: string };
  if ('detail' in body) throw new HttpReadError(body.code, body.detail, response.status);
  return body;
}

export function problemIn(error: unknown): { problem: HttpReadError } {
  if (error instanceof HttpReadError) return { problem: error };
  return { problem: new HttpReadError('UNREACHABLE', String(error), 0) };
}

export interface Answer<T> {
  readonly value?: T;
  /** Why the last read failed; then `value` is older. */
  readonly problem?: HttpReadError | undefined;
  /** Whether an open stream sends each new value. */
  readonly isLive?: boolean;
}

interface Source<T> {
  readonly read: () => Promise<T>;
  readonly everyMs?: number;
  /** The path of a stream of standings. */
  readonly stream?: string | undefined;
}

/** Reads now, and `everyMs` after each answer, unless the stream sends values that are not stale. Forgets them when `key` changes. */
export function useAnswer<T extends object>(key: string, source: Source<T>): Answer<T> {
  const { read, everyMs = POLL_MS, stream } = source;
  const [answer, setAnswer] = useState<Answer<T> & { key: string }>({ key });
  useEffect(() => {
    let isLive = false;
    const ended = new AbortController();
    const show = (next: Answer<T>) => {
      if (ended.signal.aborted) return;
      setAnswer((before) => ({ ...(before.key === key && before), ...next, key }));
    };
    const poll = async () => {
      if (ended.signal.aborted) return;
      const next: Answer<T> = isLive ? {} : await read().then(answerOf, problemIn);
      if (!isLive) show(next);
      setTimeout(() => void poll(), next.problem ? POLL_MS : everyMs);
    };
    void poll();
    if (stream !== undefined)
      follow(stream, ended.signal, (value) => {
        isLive = value?.stale === false;
        show({ ...(value && answerOf(value as unknown as T)), isLive });
      });
    return () => ended.abort();
  }, [key]);
  return answer.key === key ? answer : {};
}

const answerOf = <T>(value: T) => ({ value, problem: undefined });

/** Passes on the standings of a stream, and undefined when it breaks. */
function follow(path: string, signal: AbortSignal, onValue: (value?: Standings) => void): void {
  if (signal.aborted) return;
  const source = new EventSource(BASE + path);
  signal.addEventListener('abort', () => source.close());
  for (const name of ['snapshot', 'standings', 'reset'])
    source.addEventListener(name, ({ data }) => onValue(JSON.parse(String(data)) as Standings));
  source.addEventListener('error', () => {
    onValue();
    if (source.readyState === EventSource.CLOSED)
      setTimeout(() => follow(path, signal, onValue), REOPEN_MS);
  });
}
