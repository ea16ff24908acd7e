import type { BoardReader, ViewSelection } from '#board-store';
import { problemOf } from '../infra/problems.js';
import type { ChangeFeed } from './change-feed.js';
import { eventText } from './event-stream.js';
import { ViewFeed } from './view-feed.js';

export interface TopRequest extends ViewSelection {
  readonly board: string;
  readonly limit: number;
}

/** The view feeds of a process: one for all streams that ask for the same. */
export class ViewFeeds {
  readonly #feeds = new Map<string, ViewFeed>();

  constructor(private readonly reader: BoardReader) {}

  /** @throws what BoardReader.standings throws */
  async get(changes: ChangeFeed, request: TopRequest): Promise<ViewFeed> {
    const key = JSON.stringify(request);
    const feed = this.#feeds.get(key) ?? this.#open(changes, request, key);
    await feed.opened;
    return feed;
  }

  /** Reads all views again: a window may have a new instance, and Redis may have recovered. Closes feeds without streams. */
  refresh(): void {
    for (const [key, feed] of this.#feeds)
      if (feed.streams.size > 0) feed.refresh();
      else this.#close(key);
  }

  closeAll(): void {
    for (const key of this.#feeds.keys()) this.#close(key);
  }

  #open(changes: ChangeFeed, { board, ...request }: TopRequest, key: string): ViewFeed {
    const feed: ViewFeed = new ViewFeed({
      limit: request.limit,
      read: () => this.reader.standings(board, request),
      changes: { board, feed: changes },
      failed: (error) => this.#fail(key, error),
    });
    this.#feeds.set(key, feed);
    feed.opened.catch(() => this.#close(key));
    return feed;
  }

  /** Ends the streams of a view that can't be read any more; whoever connects again gets the problem as an answer. */
  #fail(key: string, error: Error): void {
    const feed = this.#feeds.get(key);
    const problem = problemOf(error, { method: 'GET', url: 'standings' });
    for (const stream of feed?.streams ?? []) {
      stream.send(eventText('problem', feed?.id ?? '', JSON.stringify(problem)));
      stream.end();
    }
    this.#close(key);
  }

  #close(key: string): void {
    this.#feeds.get(key)?.close();
    this.#feeds.delete(key);
  }
}
