import type {
  CountRequest,
  PlayerStanding,
  ViewReads,
  ViewSelection,
  ViewSummary,
} from '#board-store';
import { RanklogError } from '#errors';

export interface HttpReaderOptions {
  /** The address of a process with the role `query`, such as `http://127.0.0.1:9464`. */
  readonly url: string;
  /** A token of RANKLOG_HTTP_TOKENS with the scope `read`, if the service needs one. */
  readonly token?: string | undefined;
  /** Headers of every request, for a proxy that asks for them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a request may take, in ms; by default 10,000. */
  readonly timeoutMs?: number;
}

/**
 * A failed request. `code` is one of docs/reference/http.md, `UNREACHABLE` without an answer, or
 * `NO_PROBLEM` without a code.
 */
export class HttpReadError extends RanklogError {
  override readonly retriable: boolean;

  constructor(
    readonly code: string,
    detail: string,
    /** 0 without an answer. */
    readonly status: number,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.retriable = status === 0 || status === 429 || status >= 500;
  }
}

/** A board, with the fields of its definition as in the boards file. */
export type HttpBoard = { readonly board: string } & Readonly<Record<string, unknown>>;

/** A view that has players. `expiresAt` is RFC 3339; null for a view that never expires. */
export type HttpView = Omit<ViewSummary, 'expiresAt'> & { readonly expiresAt: string | null };

/**
 * Reads boards over HTTP, by `fetch` alone: for browsers, and for services that can't reach Redis.
 * Rejects with HttpReadError.
 */
export class HttpBoardReader implements ViewReads {
  readonly #url: string;

  constructor(private readonly options: HttpReaderOptions) {
    this.#url = options.url.replace(/\/+$/, '');
  }

  /** The live boards, sorted by name. */
  async boards(): Promise<HttpBoard[]> {
    return (await this.#get<{ boards: HttpBoard[] }>('/v1/boards', {})).boards;
  }

  async board(board: string): Promise<HttpBoard> {
    return this.#get(pathOf(board), {});
  }

  /**
   * All views in one list, sorted by text.
   * Cost: a request for each 10,000 views.
   */
  async views(board: string): Promise<HttpView[]> {
    const found = new Map<string, HttpView>(); // pages may repeat views
    const path = `${pathOf(board)}/views`;
    let from: object = {};
    for (;;) {
      const { views, next } = await this.#get<{ views: HttpView[]; next?: string }>(path, from);
      for (const view of views) found.set(view.view, view);
      if (next === undefined) return [...found.values()].sort((a, b) => (a.view < b.view ? -1 : 1));
      from = { after: next };
    }
  }

  standings: ViewReads['standings'] = async (board, request = {}) =>
    this.#get(`${pathOf(board)}/standings`, request);

  count: ViewReads['count'] = async (board, request = {}) =>
    (await this.#get<{ count: number }>(`${pathOf(board)}/count`, request)).count;

  player: ViewReads['player'] = async (board, playerId, request = {}) =>
    this.#get(`${pathOf(board)}/players/${segment(playerId)}`, request);

  around: ViewReads['around'] = async (board, playerId, request = {}) =>
    this.#get(`${pathOf(board)}/players/${segment(playerId)}/around`, request);

  players: ViewReads['players'] = async (board, playerIds, selection = {}) =>
    this.#request(`${pathOf(board)}/players:batch`, { ...bodyOf(selection), playerIds });

  playerOn: ViewReads['playerOn'] = async (playerId, requests) => {
    const path = `/v1/players/${segment(playerId)}/standings`;
    const body = { requests: requests.map(bodyOf) };
    return (await this.#request<{ standings: PlayerStanding[] }>(path, body)).standings;
  };

  rankOf: ViewReads['rankOf'] = async (board, score, selection = {}) => {
    const columns = typeof score === 'object' ? prefixed('score.', score) : { score };
    return this.#get(`${pathOf(board)}/rank`, { ...selection, ...columns });
  };

  at: ViewReads['at'] = async (board, rankOrShare, request = {}) =>
    this.#get(`${pathOf(board)}/at`, { ...request, ...rankOrShare });

  histogram: ViewReads['histogram'] = async (board, request = {}) =>
    this.#get(`${pathOf(board)}/histogram`, request);

  search: ViewReads['search'] = async (board, text, request = {}) => {
    const parameters = { ...request, search: text };
    return this.#get(`${pathOf(board)}/players`, parameters);
  };

  #get<T>(path: string, { where = {}, at, scores, ...rest }: CountRequest & object): Promise<T> {
    const parameters = new URLSearchParams();
    const fields = { ...rest, ...scores, at: timeOf(at), ...prefixed('where.', where) };
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) parameters.append(name, String(value));
    const text = parameters.toString();
    return this.#request(text === '' ? path : `${path}?${text}`);
  }

  /** A request with a body is a POST. */
  async #request<T>(path: string, body?: object): Promise<T> {
    const { headers: given, timeoutMs = 10_000, token } = this.options;
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...given,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    try {
      const response = await fetch(this.#url + path, { ...init, headers, signal });
      const text = await response.text();
      const answer = parsed(text);
      if (response.ok && answer !== undefined) return answer as T;
      throw readErrorOf(response, text, answer);
    } catch (error) {
      if (error instanceof HttpReadError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new HttpReadError('UNREACHABLE', `${this.#url}${path}: ${reason}`, 0, { cause: error });
    }
  }
}

/** @throws HttpReadError for `.` and `..`, which every client of HTTP takes for a folder */
function segment(id: string): string {
  if (id !== '.' && id !== '..') return encodeURIComponent(id);
  throw new HttpReadError('INVALID_READ', `"${id}" can't be part of a URL; ask by players()`, 400);
}

const pathOf = (board: string) => `/v1/boards/${segment(board)}`;

function prefixed(prefix: string, fields: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]));
}

function bodyOf<T extends ViewSelection>({ at, ...rest }: T) {
  return { ...rest, at: timeOf(at) };
}

function timeOf(at: Date | number | undefined): string | undefined {
  if (at === undefined) return undefined;
  const time = new Date(at);
  // The service refuses a text that is not a time.
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString();
}

/** undefined for a text that is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of a failed request. The answer may come from a proxy, and then is not a problem. */
function readErrorOf(
  { status, statusText }: Response,
  text: string,
  answer: unknown,
): HttpReadError {
  const { code, detail } = (answer ?? {}) as Record<string, unknown>;
  return typeof code === 'string'
    ? new HttpReadError(code, String(detail), status)
    : new HttpReadError('NO_PROBLEM', text.slice(0, 200) || statusText, status);
}
