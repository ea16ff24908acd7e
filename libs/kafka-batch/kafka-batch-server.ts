import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { lastValueFrom, isObservable } from 'rxjs';
import { BatchConsumer, type BatchConsumerOptions, type ConsumerHealth } from './batch-consumer.js';
import { BatchHandlerError, toError } from './errors.js';
import { HANDLERS, type HandlerName, type HandlerOutcome } from './handlers.js';
import type { PartitionAssignment, RecordBatch } from './types.js';

export type KafkaBatchServerOptions = Omit<BatchConsumerOptions, 'handlers'>;

/** A Nest transport strategy that hands whole batches of one topic to a controller (see handlers.ts, BatchConsumer). */
export class KafkaBatchServer extends Server implements CustomTransportStrategy {
  readonly #consumer: BatchConsumer;

  constructor(options: KafkaBatchServerOptions) {
    super();
    this.#consumer = new BatchConsumer({
      ...options,
      handlers: {
        assigned: async (assignment) =>
          (await this.#call('OnPartitionAssigned', assignment)) as number,
        batch: async (batch) => {
          await this.#call('OnRecordBatch', batch);
        },
        released: async (assignment) => {
          await this.#call('OnPartitionReleased', assignment);
        },
      },
    });
  }

  health(): ConsumerHealth {
    return this.#consumer.health();
  }

  override addHandler(
    pattern: unknown,
    callback: MessageHandler,
    isEvent = false,
    extras = {},
  ): void {
    if (this.messageHandlers.has(String(pattern)))
      throw new BatchHandlerError(String(pattern), 'duplicate');
    super.addHandler(pattern, callback, isEvent, extras);
  }

  /** Called by Nest. Joins the group; every error goes to the callback, and no connection is left open then. */
  listen(callback: (error?: unknown) => void): void {
    this.#listen().then(() => {
      callback();
    }, callback);
  }

  /** Called by Nest at shutdown: finishes the batches in hand, releases the partitions, leaves the group. */
  async close(): Promise<void> {
    await this.#consumer.close();
  }

  on(): never {
    throw new Error('KafkaBatchServer has no events to listen to');
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the signature is Nest's
  unwrap<T>(): T {
    return this.#consumer.client as T;
  }

  async #listen(): Promise<void> {
    for (const name of HANDLERS)
      if (!this.messageHandlers.has(name)) throw new BatchHandlerError(name, 'missing');
    await this.#consumer.start();
  }

  async #call(name: HandlerName, input: PartitionAssignment | RecordBatch): Promise<unknown> {
    const result: unknown = await this.messageHandlers.get(name)?.(input);
    const outcome = (isObservable(result) ? await lastValueFrom(result) : result) as HandlerOutcome;
    if (outcome.ok) return outcome.value;
    throw toError(outcome.error);
  }
}
