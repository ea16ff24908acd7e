import { MessagePattern, Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { lastValueFrom, isObservable } from 'rxjs';
import { toError } from '#errors';
import {
  BatchConsumer,
  type BatchConsumerOptions,
  type ConsumerHealth,
} from './consume/batch-consumer.js';
import type { PartitionAssignment, RecordBatch } from './kafkajs/types.js';

const HANDLERS = ['OnPartitionAssigned', 'OnRecordBatch', 'OnPartitionReleased'] as const;
type HandlerName = (typeof HANDLERS)[number];

/** The result of a handler. Errors are values, because Nest makes plain objects of thrown ones. */
type Outcome = { readonly value: unknown } | { readonly error: unknown };

type HandlerDecorator<Input, Output = unknown> = <Own extends (input: Input) => Promise<Output>>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<Own>,
) => void;

/**
 * Marks the method that starts a partition and returns the offset to read from. The partition is
 * paused meanwhile. A PermanentPartitionError stops the partition; after any other error it is
 * started again.
 */
export const OnPartitionAssigned = (): HandlerDecorator<PartitionAssignment, number> =>
  handler('OnPartitionAssigned');

/**
 * Marks the method that handles a batch. Batches of one partition come in sequence; batches of
 * different partitions come concurrently.
 */
export const OnRecordBatch = (): HandlerDecorator<RecordBatch> => handler('OnRecordBatch');

/**
 * Marks the method that completes the work in flight when the partition is lost or restarted, or
 * the process stops.
 */
export const OnPartitionReleased = (): HandlerDecorator<PartitionAssignment> =>
  handler('OnPartitionReleased');

function handler(name: HandlerName): HandlerDecorator<never> {
  return (target, key, descriptor) => {
    const method = descriptor.value;
    if (method === undefined) throw new TypeError(`@${name}() decorates methods only, not ${key}`);
    const wrapped = async function (this: unknown, input: never): Promise<Outcome> {
      try {
        return { value: await method.call(this, input) };
      } catch (error) {
        return { error };
      }
    };
    descriptor.value = wrapped as unknown as typeof method;
    MessagePattern(name)(target, key, descriptor);
  };
}

export type KafkaBatchServerOptions = Omit<BatchConsumerOptions, 'handlers'>;

/**
 * A Nest transport that delivers one Kafka topic in batches, in order within each partition. Nest's
 * own Kafka transport delivers single messages and commits their offsets; this one commits nothing:
 * the application stores the offsets. Exactly one controller method of the application has each of
 * the three decorators, see IngestController. `app.close()` finishes the current batches, releases
 * the partitions and leaves the group. `health()` is for probes.
 */
export class KafkaBatchServer extends Server implements CustomTransportStrategy {
  readonly #consumer: BatchConsumer;

  constructor(options: KafkaBatchServerOptions) {
    super();
    this.#consumer = new BatchConsumer({
      ...options,
      handlers: {
        assigned: async (assignment) =>
          (await this.#call('OnPartitionAssigned', assignment)) as number,
        batch: (batch) => this.#call('OnRecordBatch', batch),
        released: (assignment) => this.#call('OnPartitionReleased', assignment),
      },
    });
  }

  health(): ConsumerHealth {
    return this.#consumer.health();
  }

  override addHandler(...[pattern, ...handler]: Parameters<Server['addHandler']>): void {
    const name = String(pattern);
    if (this.messageHandlers.has(name))
      throw new Error(`two controller methods handle ${name}; decorate only one with @${name}()`);
    super.addHandler(pattern, ...handler);
  }

  /** Called by Nest. Joins the group. Passes an error to `callback`; then no connection is open. */
  listen(callback: (error?: unknown) => void): void {
    this.#listen().then(() => callback(), callback);
  }

  async close(): Promise<void> {
    await this.#consumer.close();
  }

  on(): never {
    throw new Error('KafkaBatchServer emits no events');
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- Nest's signature
  unwrap<T>(): T {
    return this.#consumer.client as T;
  }

  async #listen(): Promise<void> {
    for (const name of HANDLERS)
      if (!this.messageHandlers.has(name))
        throw new Error(`no controller method handles ${name}; decorate one with @${name}()`);
    await this.#consumer.start();
  }

  async #call(name: HandlerName, input: PartitionAssignment | RecordBatch): Promise<unknown> {
    const result: unknown = await this.messageHandlers.get(name)?.(input);
    const outcome = (isObservable(result) ? await lastValueFrom(result) : result) as Outcome;
    if ('error' in outcome) throw toError(outcome.error);
    return outcome.value;
  }
}
