import { useEffect, useState } from 'preact/hooks';
import { HttpBoardReader, HttpReadError, type Standings } from '#http';

/** The folder of the page without its last slash: a proxy may serve ranklog below a path. */
const BASE = new URL('.', location.href).pathname.replace(/\/$/, '');
const POLL_MS = 1_000;
const REOPEN_MS = 5_000;

/** Where the page keeps the token that the user gave, until the tab is closed. */
export const TOKEN = 'ranklog-token';
const token = sessionStorage.getItem(TOKEN) ?? undefined;
const headers: HeadersInit = token === undefined ? {} : { authorization: `Bearer ${token}` };

export const reader = new HttpBoardReader({ url: BASE, token });

/**
 * Reads a path that HttpBoardReader does not know.
 * @throws HttpReadError, and the error of `fetch` if there is no answer
 */
export async function getJson<T extends object>(path: string): Promise<T> {
  const response = await fetch(BASE + path, { headers, signal: AbortSignal.timeout(10_000) });
  const body = (await response.json()) as T | { code: string; detail: string };
  if ('detail' in body) throw new HttpReadError(body.code, body.detail, response.status);
  return body;
}

export const boardPath = (board: string) => `/v1/boards/${encodeURIComponent(board)}`;

/** A player record as `GET /v1/boards/BOARD/bans` shows it. */
export interface Ban {
  readonly playerId: string;
  readonly kind: 'banned' | 'unbanned' | 'erased';
  readonly time: string;
  readonly reason?: string;
  readonly by?: string;
}

export interface Answer<T> {
  readonly value?: T;
  /**
   * Why the last read failed; then `value` is older. An HttpReadError unless the service did not
   * answer.
   */
  readonly problem?: unknown;
  /** Whether an open stream sends each new value. */
  readonly isLive?: boolean;
}

interface Source<T> {
  readonly read: () => Promise<T>;
  readonly everyMs?: number;
  /** Reads at once when this changes. */
  readonly after?: string;
  readonly stream?: string | undefined;
}

/**
 * Reads now, and again `everyMs` after each answer. Does not read while the stream sends values
 * that are not stale. Forgets all values when `key` changes.
 */
export function useAnswer<T extends object>(key: string, source: Source<T>): Answer<T> {
  const { read, everyMs = POLL_MS, after, stream } = source;
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
      if (!isLive) show(next); // a value may have come from the stream during the read
      setTimeout(() => void poll(), next.problem ? POLL_MS : everyMs);
    };
    void poll();

    if (stream !== undefined)
      void follow(stream, ended.signal, (value) => {
        isLive = value?.stale === false;
        show({ ...(value && answerOf(value as unknown as T)), isLive });
      });
    return () => ended.abort();
  }, [key, after]);
  return answer.key === key ? answer : {};
}

const answerOf = <T>(value: T): Answer<T> => ({ value, problem: undefined });
const problemIn = (problem: unknown) => ({ problem });

/**
 * Passes on the standings of a stream, and undefined when the stream breaks. Then opens it again.
 * Uses `fetch`, as EventSource can't send a token.
 */
async function follow(path: string, signal: AbortSignal, onValue: (value?: Standings) => void) {
  let rest = '';
  const write = (part: string) => {
    const events = (rest + part).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, data] = /^event: (?:snapshot|standings)$[^]*^data: (.*)$/m.exec(event) ?? [];
      if (data !== undefined) onValue(JSON.parse(data) as Standings);
    }
  };
  try {
    const { ok, body } = await fetch(BASE + path, { headers, signal });
    if (ok) await body?.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }));
  } catch {
    // The polling reports why the service does not answer.
  }
  onValue();
  if (!signal.aborted) setTimeout(() => void follow(path, signal, onValue), REOPEN_MS);
}
