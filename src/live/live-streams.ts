import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoardReader } from '#board-store';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { Logger } from '../infra/logger.js';
import { ProblemError } from '../infra/problems.js';
import type { ChangeFeed } from './change-feed.js';
import { eventText, EventStream } from './event-stream.js';
import type { LogPosition } from './log-position.js';
import type { CommittedChange } from './recent-changes.js';
import { inTime, SharedChangeFeed } from './shared-change-feed.js';
import { ViewFeeds, type TopRequest } from './view-feeds.js';

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const HEARTBEAT_MS = 15_000;

/** The streams of this process. The rank changes are read from Kafka while there are streams, and up to 30 s longer. */
@Injectable()
export class LiveStreams implements BeforeApplicationShutdown {
  /** Each stream with the position from which on its client is to resume. */
  readonly #streams = new Map<EventStream, () => string>();
  readonly #changes: SharedChangeFeed;
  readonly #views: ViewFeeds;
  #wasIdle = false;
  readonly #heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();

  constructor(
    connection: KafkaConnection,
    reader: BoardReader,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'queryStreams'>,
  ) {
    this.#changes = new SharedChangeFeed(connection, logger, () => this.#endAll());
    this.#views = new ViewFeeds(reader);
  }

  /** Streams the rank changes of a board, or of one player of it. @throws ProblemError */
  async rankChanges(exchange: Exchange, board: string, playerId?: string): Promise<void> {
    const { feed, asked, position } = await this.#resume(exchange);
    // Nothing waits from here on, so that no rank change is missed between the past ones and the next one.
    const stream = this.#add(
      exchange,
      () => feed.id,
      () => stop(),
    );
    const stop = feed.listen(board, playerId, ({ event }) => stream.send(event));
    const concerns = ({ change }: CommittedChange) =>
      change.board === board && (playerId === undefined || change.playerId === playerId);
    const past = position && feed.since(position, concerns);
    if (asked && past === undefined)
      stream.send(eventText('reset', feed.id, JSON.stringify({ position: feed.id })));
    for (const { event } of past ?? []) stream.send(event);
    stream.heartbeat(feed.id);
  }

  /** Streams the first players of a view. @throws ProblemError, and what BoardReader.standings throws */
  async standings(exchange: Exchange, request: TopRequest): Promise<void> {
    const { feed, asked, position } = await this.#resume(exchange);
    const view = await this.#views.get(feed, request);
    const stream = this.#add(
      exchange,
      () => view.id,
      () => view.streams.delete(stream),
    );
    view.streams.add(stream);
    const past = position && feed.since(position, (change) => view.concerns(change));
    if (!asked) stream.send(view.event('snapshot'));
    else if (past === undefined) stream.send(view.event('reset'));
    else if (past.length > 0) stream.send(view.event('standings'));
  }

  /** Ends all streams, before the HTTP server closes: they would keep it open. */
  beforeApplicationShutdown(): void {
    clearInterval(this.#heartbeat);
    this.#changes.close();
    this.#endAll();
  }

  /** The position that a client asks for with Last-Event-ID; undefined if it asks for none, or for one that is not known. */
  async #resume({ request: { headers } }: Exchange): Promise<{
    readonly feed: ChangeFeed;
    readonly asked: boolean;
    readonly position: LogPosition | undefined;
  }> {
    const feed = await this.#changes.get();
    const id = headers['last-event-id'];
    const asked = typeof id === 'string' && id !== '';
    return { feed, asked, position: asked ? await inTime(feed.positionOf(id)) : undefined };
  }

  #add(exchange: Exchange, position: () => string, closed: () => void): EventStream {
    const { queryStreams } = this.settings;
    if (this.#streams.size >= queryStreams)
      throw new ProblemError(
        'TOO_MANY_STREAMS',
        `this process has ${queryStreams} streams (RANKLOG_QUERY_STREAMS); try again later`,
      );
    const stream = EventStream.open(exchange.request, exchange.reply, () => {
      this.#streams.delete(stream);
      closed();
    });
    this.#streams.set(stream, position);
    return stream;
  }

  #beat(): void {
    for (const [stream, position] of this.#streams) stream.heartbeat(position());
    this.#views.refresh();
    const isIdle = this.#streams.size === 0;
    if (isIdle && this.#wasIdle) this.#changes.close();
    this.#wasIdle = isIdle;
    this.#changes.checkPartitions().catch((error: unknown) => {
      this.logger.debug('counting the partitions of the rank changes failed', { error });
    });
  }

  /** Clients connect again and resume. */
  #endAll(): void {
    this.#views.closeAll();
    for (const stream of this.#streams.keys()) stream.end();
  }
}
