import { Inject, Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { Observable, Subject, type Subscriber } from 'rxjs';
import { isPublished } from '#board';
import { selectedView, type LiveBoard, type ViewSelection } from '#board-store';
import { BoardReader } from '#board-store/reader';
import {
  LeaderChangeFollower,
  LeadersByView,
  NotPublishedError,
  type LeaderChange,
  type LeaderStep,
} from '#client';
import { RANKLOG_OPTIONS, type RanklogModuleOptions } from './options.js';

/**
 * The data of an event: the first players of a view, and who entered, left or moved since the event
 * before.
 */
export interface LeadersEvent extends Pick<LeaderStep, 'top' | 'entered' | 'left' | 'moved'> {
  readonly board: string;
  /** The view, such as `week:2026-W47`. It changes when a new week begins. */
  readonly view: string;
  readonly version: number;
}

type Follower = Pick<LeaderChangeFollower, 'ended' | 'close'>;

/** The leader changes that all streams of the process share. */
interface Feed {
  readonly changes: Subject<LeaderChange>;
  readonly follower: Promise<Follower>;
}

/**
 * How often a stream sends an event, so that proxies keep it open, and checks whether a new view
 * has begun or the board has changed.
 */
const HEARTBEAT_MS = 15_000;

/** How many events of a stream may wait for its client. Of later ones, only the newest is kept. */
const MOST_UNWRITTEN = 16;

/** How long a follower without streams stays open: a page that is loaded again connects again. */
const IDLE_MS = 30_000;

/**
 * The first players of views, live, for `@Sse()`:
 *
 *     @Sse('top')
 *     top() { return this.leaders.stream('arena', { window: 'week' }); }
 *
 * The board must publish leader changes (`publish.leaders`). All streams of a process share one
 * follower of the leader changes, which exists while there are streams.
 */
@Injectable()
export class LiveLeaders implements OnModuleDestroy {
  #feed: Feed | undefined;

  constructor(
    @Inject(RANKLOG_OPTIONS) private readonly options: RanklogModuleOptions,
    @Inject(BoardReader) private readonly reader: BoardReader,
  ) {}

  /**
   * The events of a view. The data of each is a LeadersEvent. The first event is a `snapshot`, and
   * so is the first event of a new week, and the first after a change of the board. All later
   * events have the type `leaders`. A client that connects again begins with a snapshot. A client
   * that reads slowly gets only the newest leaders. Between these, there are events of the type
   * `heartbeat` without content.
   * @throws NotPublishedError, the errors of BoardReader, and KafkaUnreachableError
   */
  async stream(board: string, selection: ViewSelection = {}): Promise<Observable<MessageEvent>> {
    const live = await this.reader.board(board);
    const view = publishedView(live, selection);
    // Throws for an expired view before the answer begins.
    await this.reader.count(board, { view });
    await this.#opened().follower;
    return new Observable((subscriber) => {
      const stream = new LeadersStream(this.reader, { board, selection }, subscriber);
      const feed = this.#opened(); // it may have ended meanwhile
      const changes = feed.changes.subscribe({
        next: (change) => stream.take(change),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
      if (subscriber.closed) return undefined;
      const heartbeat = setInterval(() => void stream.beat(), HEARTBEAT_MS);
      void stream.show(live);
      return () => {
        clearInterval(heartbeat);
        changes.unsubscribe();
        this.#closeWhenIdle(feed);
      };
    });
  }

  /** Completes all streams, as they would keep the HTTP server open. */
  async onModuleDestroy(): Promise<void> {
    const feed = this.#feed;
    this.#feed = endedFeed(); // for streams that are opened from now on
    if (feed === undefined) return;
    feed.changes.complete();
    await this.#close(feed);
  }

  /** @ranklog/nestjs/testing overrides it, so that leader changes come from a test. */
  protected follow(take: (change: LeaderChange) => void): Promise<Follower> {
    return LeaderChangeFollower.open(this.options, take);
  }

  #opened(): Feed {
    if (this.#feed !== undefined) return this.#feed;
    const changes = new Subject<LeaderChange>();
    const follower = this.follow((change) => changes.next(change));
    const feed: Feed = { changes, follower };
    this.#feed = feed;
    const ended = follower.then((opened) => opened.ended);
    const end = (error: unknown) => {
      if (this.#feed === feed) this.#feed = undefined;
      changes.error(error);
    };
    ended.then(end, end);
    this.#closeWhenIdle(feed);
    return feed;
  }

  #closeWhenIdle(feed: Feed): void {
    const close = () => {
      if (!feed.changes.observed) void this.#close(feed);
    };
    setTimeout(close, IDLE_MS).unref();
  }

  /** Never rejects: the streams have the error of a follower that did not open. */
  async #close(feed: Feed): Promise<void> {
    if (this.#feed === feed) this.#feed = undefined;
    await feed.follower.then((follower) => follower.close()).catch(() => undefined);
  }
}

/** A feed whose streams are complete at once. */
function endedFeed(): Feed {
  const changes = new Subject<LeaderChange>();
  changes.complete();
  const ended = new Promise<Error>(() => undefined);
  return { changes, follower: Promise.resolve({ ended, close: () => Promise.resolve() }) };
}

/**
 * The view of a selection.
 * @throws NotPublishedError, NoSuchViewError, NoInstanceError, MalformedViewError
 */
function publishedView({ board, definition }: LiveBoard, selection: ViewSelection): string {
  const { view } = selectedView(definition, selection);
  if (definition.publish.leaders === 0 || !isPublished(definition, view))
    throw new NotPublishedError(
      `board "${board}" publishes no leaders of the view "${view}"; set \`publish\` of the ` +
        'board: leaders: 10',
    );
  return view;
}

/** The events of one client. */
class LeadersStream {
  /** The generation and the view of the last snapshot. */
  #generation = '';
  #view = '';
  #leaders = new LeadersByView();
  /** The leader changes that came during the read of a snapshot; undefined at other times. */
  #waiting: LeaderChange[] | undefined;
  /** How many events were sent, but not written. Nest reads the data of an event to write it. */
  #unwritten = 0;
  /** The newest leader change that came while MOST_UNWRITTEN events were waiting. */
  #held: LeaderChange | undefined;

  constructor(
    private readonly reader: BoardReader,
    private readonly shown: { readonly board: string; readonly selection: ViewSelection },
    private readonly subscriber: Subscriber<MessageEvent>,
  ) {}

  take(change: LeaderChange): void {
    const { board, view, version } = change;
    if (board !== this.shown.board) return;
    if (this.#waiting !== undefined) {
      this.#waiting.push(change);
      return;
    }
    if (view !== this.#view) return;
    if (this.#unwritten >= MOST_UNWRITTEN) {
      this.#hold(change);
      return;
    }

    const step = this.#leaders.take(change);
    if (step === undefined) return; // the snapshot contains it
    const { top, entered, left, moved } = step;
    this.#send('leaders', { board, view, version, top, entered, left, moved });
  }

  /** Reads the board again. Sends a snapshot if the board or view has changed, else a heartbeat. */
  async beat(): Promise<void> {
    if (this.#waiting !== undefined || this.#unwritten >= MOST_UNWRITTEN) return;
    const live = await this.reader.board(this.shown.board).catch(() => undefined);
    if (live !== undefined) await this.show(live);
    else this.#send('heartbeat', {}); // the next heartbeat reads the board again
  }

  async show(live: LiveBoard): Promise<void> {
    try {
      const view = publishedView(live, this.shown.selection);
      if (live.generation === this.#generation && view === this.#view) this.#send('heartbeat', {});
      else if (this.#waiting === undefined) await this.#snapshot(live, view);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  async #snapshot({ board, generation, definition }: LiveBoard, view: string): Promise<void> {
    this.#waiting = [];
    const { version, entries } = await this.reader.standings(board, {
      view,
      limit: definition.publish.leaders,
    });
    const top = entries.map(({ playerId, rank, competitionRank, columns }) => {
      return { playerId, rank, competitionRank, columns };
    });

    const changes = this.#waiting;
    this.#waiting = undefined;
    this.#held = undefined;
    this.#generation = generation;
    this.#view = view;
    this.#leaders = new LeadersByView();
    this.#leaders.take({ board, view, version, top, since: null });
    this.#send('snapshot', { board, view, version, top, entered: [], left: [], moved: [] });
    for (const change of changes) this.take(change);
  }

  #hold(change: LeaderChange): void {
    if (this.#held === undefined || this.#held.version < change.version) this.#held = change;
  }

  #send(
    type: 'snapshot' | 'leaders' | 'heartbeat',
    content: LeadersEvent | Record<string, never>,
  ): void {
    let isWritten = false;
    const written = () => {
      if (!isWritten) this.#written();
      isWritten = true;
    };
    this.#unwritten += 1;
    this.subscriber.next({
      type,
      get data() {
        written();
        return content;
      },
    });
  }

  #written(): void {
    this.#unwritten -= 1;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.take(held);
  }
}
