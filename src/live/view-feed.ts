import type { Standings } from '#board-store';
import { isRedisUnavailable } from '../infra/redis.js';
import type { ChangeFeed } from './change-feed.js';
import { eventText, type EventStream } from './event-stream.js';
import type { CommittedChange } from './recent-changes.js';

export interface ViewFeedOptions {
  readonly limit: number;
  readonly read: () => Promise<Standings>;
  /** The board of the view, and the rank changes that tell when to read the view again. */
  readonly changes: { readonly board: string; readonly feed: ChangeFeed };
  /** Called with an error that a retry does not repair. */
  readonly failed: (error: Error) => void;
}

/** A view is read at most once in this time, in ms. */
const READ_EVERY_MS = 250;
/** How long to wait after Redis did not answer, in ms. */
const RETRY_MS = 1_000;

/** The top N of a view for all streams that ask for the same. Reads the view once per committed change, at most each 250 ms. */
export class ViewFeed {
  readonly streams = new Set<EventStream>();
  /** The first read. */
  readonly opened: Promise<void>;
  #view = '';
  #data = '';
  /** The position before the last read: `#data` has all changes that were committed by then. */
  #id = '';
  #readAt = 0;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #stopListening: () => void;

  constructor(private readonly options: ViewFeedOptions) {
    const { board, feed } = options.changes;
    this.#stopListening = feed.listen(board, undefined, (change) => {
      if (this.concerns(change)) this.refresh();
    });
    this.opened = this.#read();
  }

  get id(): string {
    return this.#id;
  }

  /** The last standings as an event. */
  event(type: 'snapshot' | 'standings' | 'reset'): string {
    return eventText(type, this.#id, this.#data);
  }

  /** Whether a rank change may change the top N or the number of players, on which all percentiles depend. */
  concerns({ change }: CommittedChange): boolean {
    const { limit } = this.options;
    return change.changes.some(
      ({ view, before, after }) =>
        (view === this.#view || this.#view === '') && // the first read may miss the change
        (before === null || after === null || Math.min(before.rank, after.rank) <= limit),
    );
  }

  /** Reads the view soon, and sends it if it has changed. */
  refresh(waitMs = READ_EVERY_MS): void {
    if (this.#isClosed) return;
    const due = Math.max(0, this.#readAt + waitMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#refreshNow(), due).unref();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  /** While a read takes long, the next one waits for it. A change that comes during a read leads to one more. */
  async #refreshNow(): Promise<void> {
    await this.#refreshing;
    this.#timer = undefined;
    this.#refreshing = this.#readAndSend();
  }

  async #readAndSend(): Promise<void> {
    const before = this.#data;
    try {
      await this.#read();
    } catch (error) {
      if (isRedisUnavailable(error)) this.refresh(RETRY_MS);
      else this.options.failed(error as Error);
      return;
    }
    if (this.#data === before) return;
    const event = Buffer.from(this.event('standings'));
    for (const stream of this.streams) stream.send(event);
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    const { id } = this.options.changes.feed;
    const standings = await this.options.read();
    this.#view = standings.view;
    this.#data = JSON.stringify(standings);
    this.#id = id;
  }
}
