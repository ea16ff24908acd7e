import {
  concatMap,
  defer,
  filter,
  finalize,
  merge,
  ReplaySubject,
  retry,
  scan,
  share,
  Subject,
  tap,
  throttle,
  timer,
  zip,
  type Observable,
} from 'rxjs';
import type { BoardReader, ViewSelection } from '#board-store';
import type { RankChange } from '#contracts';
import { isRedisUnavailable } from '../../infra/redis.js';
import type { ChangeFeed } from './change-feed.js';
import { eventText } from './event-stream.js';

export interface TopRequest extends ViewSelection {
  readonly board: string;
  readonly limit: number;
}

/** The top N of a view as JSON. It has all changes that were committed by the position `id`. */
export interface Top {
  readonly id: string;
  readonly data: string;
  /** It as the event `standings`, with the position of the read that found it. */
  readonly event: Buffer;
  /** Whether it differs from the read before. */
  readonly isChanged: boolean;
}

interface Sources {
  readonly reader: Pick<BoardReader, 'standings'>;
  readonly changes: Pick<ChangeFeed, 'id' | 'of'>;
}

/** A view is read at most once in this time, in ms. */
const READ_EVERY_MS = 250;
/** A view is read again without a change: a window may have a new instance. */
const REREAD_MS = 15_000;
/** How long to wait after Redis did not answer, in ms. */
const RETRY_MS = 1_000;
/** How long a view without streams is still read, in ms. */
const IDLE_MS = 1_000;

/** The views that streams show: one feed for all streams that ask for the same. */
export class ViewFeeds {
  readonly #feeds = new Map<string, Observable<Top>>();

  /**
   * The last top N of a view, and the next ones. Reads the view once per committed change, at most
   * each 250 ms, while anyone listens. Fails with what BoardReader.standings throws; once the view
   * was read, it waits for a Redis that does not answer.
   */
  get(request: TopRequest, sources: Sources): Observable<Top> {
    const key = JSON.stringify(request);
    const known = this.#feeds.get(key);
    if (known !== undefined) return known;
    const feed = defer(() => readings(request, sources)).pipe(
      finalize(() => this.#feeds.delete(key)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => timer(IDLE_MS),
      }),
    );
    this.#feeds.set(key, feed);
    return feed;
  }
}

/** As `get` of ViewFeeds, for one listener. */
export function readings({ board, ...request }: TopRequest, { reader, changes }: Sources) {
  let view = '';
  const ended = new Subject<void>();
  const read = defer(async () => {
    const { id } = changes;
    const standings = await reader.standings(board, request);
    ({ view } = standings);
    return { id, data: JSON.stringify(standings) };
  });
  const delay = (error: unknown) => {
    if (view !== '' && isRedisUnavailable(error)) return timer(RETRY_MS);
    throw error;
  };
  const moves = changes.of(board).pipe(filter(([change]) => concerns(change, view, request.limit)));
  return merge(timer(0, REREAD_MS), moves).pipe(
    // A change that comes during a read leads to one more.
    throttle(() => zip(ended, timer(READ_EVERY_MS)), { leading: true, trailing: true }),
    concatMap(() => read.pipe(retry({ delay }))),
    tap(() => ended.next()),
    scan((before: Top | undefined, { id, data }): Top => {
      if (before?.data === data) return { ...before, id, isChanged: false };
      return { id, data, event: Buffer.from(eventText('standings', id, data)), isChanged: true };
    }, undefined),
    filter((top) => top !== undefined),
  );
}

/**
 * Whether a rank change may change the top N of a view, or its number of players. `shown` is empty
 * during the first read.
 */
function concerns({ changes }: RankChange, shown: string, limit: number): boolean {
  return changes.some(
    ({ view, before, after }) =>
      (view === shown || shown === '') &&
      (before === null || after === null || Math.min(before.rank, after.rank) <= limit),
  );
}
