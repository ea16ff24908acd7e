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

/** The top N of a view. */
export interface Top {
  /** The position in the rank changes: `data` has all changes that were committed before it. */
  readonly id: string;
  /** As JSON. */
  readonly data: string;
  /** The event `standings` with these data, and with the position of the read that found them. */
  readonly event: Buffer;
  /** Whether `data` differ from the previous read. */
  readonly isChanged: boolean;
}

interface Sources {
  readonly reader: Pick<BoardReader, 'standings'>;
  readonly changes: Pick<ChangeFeed, 'id' | 'of'>;
}

/** The least time between two reads of a view. */
const READ_EVERY_MS = 250;
/** A view is read again even without a change, because a new instance of a window may begin. */
const REREAD_MS = 15_000;
/** How long to wait after Redis did not answer. */
const RETRY_MS = 1_000;
/** How long a view is still read after its last stream has ended. */
const IDLE_MS = 1_000;

/** The views that streams show: all streams of the same view share one feed. */
export class ViewFeeds {
  readonly #feeds = new Map<string, Observable<Top>>();

  /**
   * The last top N of a view, and the next ones. While there are subscribers, reads the view after
   * each committed change, at most every 250 ms. Fails with the errors of BoardReader.standings,
   * but after the first read it waits while Redis does not answer.
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

/** Does the same as `ViewFeeds.get`, for one subscriber. */
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
    // A change during a read causes another read.
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
  return changes.some(({ view, before, after }) => {
    if (view !== shown && shown !== '') return false;
    if (before === null || after === null) return true;
    return Math.min(before.rank, after.rank) <= limit;
  });
}
