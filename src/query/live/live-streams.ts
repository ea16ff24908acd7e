import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { firstValueFrom } from 'rxjs';
import { BoardReader } from '#board-store';
import { toError } from '#errors';
import { ProblemError } from '#problems';
import type { Settings } from '../../config/settings.js';
import { SETTINGS } from '../../infra/config.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { Logger } from '../../infra/logger.js';
import { Metrics } from '../../infra/metrics.js';
import { RecurringTask } from '../../infra/recurring-task.js';
import { inTime, problemOf } from '../http/problems.js';
import { ChangeFeed } from './change-feed.js';
import { eventText, EventStream } from './event-stream.js';
import { ViewFeeds, type Top, type TopRequest } from './view-feed.js';

const HEARTBEAT_MS = 15_000;

/** The live streams of this process. Reads Kafka while there are streams, and up to 30 s longer. */
@Injectable()
export class LiveStreams implements BeforeApplicationShutdown {
  @Inject() private readonly metrics: Metrics;
  readonly #streams = new Set<EventStream>();
  /** The rank changes of all streams, from the first stream until `#end`. */
  #feed: Promise<ChangeFeed> | undefined;
  /** The views of all streams. */
  #views = new ViewFeeds();
  #stop = new AbortController();
  #wasIdle = false;
  readonly #heartbeat = new RecurringTask(() => this.#beat(), HEARTBEAT_MS);

  constructor(
    private readonly connection: KafkaConnection,
    private readonly reader: BoardReader,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'queryStreams'>,
  ) {
    this.#heartbeat.start();
  }

  /**
   * The last rank changes of a player in the memory of this process, and since when it has all.
   * @throws ProblemError LOG_UNAVAILABLE
   */
  async heldChanges(board: string, playerId: string) {
    const { recent } = await this.#opened();
    return { heldSince: recent.heldSince, changes: recent.ofPlayer(board, playerId) };
  }

  /**
   * Streams the rank changes of a board, or of one of its players.
   * @throws ProblemError
   */
  async rankChanges(reply: FastifyReply, board: string, playerId?: string): Promise<void> {
    const { feed, resumes, position } = await this.#resume(reply);

    // No `await` from here on: it could lose rank changes between the past ones and the next one.
    const stream = this.#add(reply, feed, () => subscription.unsubscribe());
    const subscription = feed.of(board, playerId).subscribe(([, event]) => stream.send(event));
    const past = position && feed.recent.since(position, board, playerId);
    if (past !== undefined) {
      for (const part of past) stream.send(part);
    } else if (resumes) {
      stream.send(eventText('reset', feed.id, JSON.stringify({ position: feed.id })));
    }
    stream.heartbeat(feed.id);
  }

  /**
   * Streams the first players of a view. Sends them at once, also to a client that resumes, as a
   * new week may have begun.
   */
  async standings(reply: FastifyReply, request: TopRequest): Promise<void> {
    const { feed, resumes, position } = await this.#resume(reply);
    const tops = this.#views.get(request, { reader: this.reader, changes: feed });
    await firstValueFrom(tops);

    const stream = this.#add(reply, feed, () => subscription.unsubscribe());
    const hasAllSince = position !== undefined && feed.recent.reachBackTo(position);
    let firstType = 'snapshot';
    if (resumes) firstType = hasAllSince ? 'standings' : 'reset';
    let isFirst = true;
    const show = ({ id, data, event, isChanged }: Top) => {
      if (isFirst) stream.send(eventText(firstType, id, data));
      else if (isChanged) stream.send(event);
      isFirst = false;
    };
    const error = (reason: Error) => this.#fail(stream, feed, reason);
    const subscription = tops.subscribe({ next: show, error });
  }

  /** Ends all streams, before the HTTP server closes: they would keep it open. */
  beforeApplicationShutdown(): void {
    void this.#heartbeat.stop();
    this.#end();
  }

  /**
   * Reads the header Last-Event-ID. `resumes`: whether the client sent it. `position`: undefined if
   * the client did not, or if the id is not of this topic.
   * @throws ProblemError LOG_UNAVAILABLE
   */
  async #resume({ request: { headers } }: FastifyReply) {
    const id = String(headers['last-event-id'] ?? '');
    const feed = await this.#opened();
    const position = await inTime(feed.positionOf(id));
    checkOpen(feed);
    return { feed, resumes: id !== '', position };
  }

  /**
   * The feed; opens it if it is closed.
   * @throws ProblemError LOG_UNAVAILABLE
   */
  #opened(): Promise<ChangeFeed> {
    this.#wasIdle = false;
    return inTime((this.#feed ??= this.#open()));
  }

  #add(reply: FastifyReply, feed: ChangeFeed, closed: () => void): EventStream {
    checkOpen(feed);
    const { queryStreams } = this.settings;
    if (this.#streams.size >= queryStreams)
      throw new ProblemError(
        'TOO_MANY_STREAMS',
        `this process has ${queryStreams} streams (RANKLOG_QUERY_STREAMS); try again later`,
      );
    const stream = EventStream.open(reply, () => {
      this.#streams.delete(stream);
      this.metrics.gauges.ranklog_streams.dec();
      closed();
    });
    this.#streams.add(stream);
    this.metrics.gauges.ranklog_streams.inc();
    return stream;
  }

  /** Ends the stream of a view that can't be read any more: sends the problem as an event. */
  #fail(stream: EventStream, { id }: ChangeFeed, error: Error): void {
    const problem = problemOf(error, { method: 'GET', url: 'standings' });
    if (problem.code === 'INTERNAL_SERVER_ERROR')
      this.logger.error(`a live stream ends: ${error.message}`, { error });
    stream.send(eventText('problem', id, JSON.stringify(problem)));
    stream.end();
  }

  async #open(): Promise<ChangeFeed> {
    const { kafka, topics } = this.connection;
    const { logger } = this;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const feed = ChangeFeed.open({ kafka, topic: topics.rankChanges, signal, logger });
    const ended = feed.then((opened) => opened.ended).catch(toError);
    void ended.then(({ message }) => {
      if (signal.aborted) return; // by #end
      logger.warn(`all live streams end: ${message}`);
      this.#end();
    });
    return feed;
  }

  /** Sends heartbeats. Closes the feed after two heartbeats in a row without a stream. */
  #beat(): void {
    const beat = ({ id }: ChangeFeed) => {
      for (const stream of this.#streams) stream.heartbeat(id);
    };
    this.#feed?.then(beat, () => undefined); // without a feed there are no streams

    const isIdle = this.#streams.size === 0;
    if (isIdle && this.#wasIdle) this.#end();
    this.#wasIdle = isIdle;
  }

  /** Ends the feed and all streams, whose clients connect again and resume. */
  #end(): void {
    this.#stop.abort(new Error('the feed of rank changes was closed'));
    this.#feed = undefined;
    this.#views = new ViewFeeds();
    for (const stream of this.#streams) stream.end();
  }
}

/**
 * Refuses a feed that has ended while a request waited: the stream would be silent.
 * @throws ProblemError LOG_UNAVAILABLE
 */
function checkOpen(feed: ChangeFeed): void {
  if (feed.isEnded)
    throw new ProblemError('LOG_UNAVAILABLE', 'all live streams have just ended; try again');
}
