import { MessagePattern } from '@nestjs/microservices';
import type { PartitionAssignment, RecordBatch } from './types.js';

/** The patterns that controllers of a batch consumer handle, by the decorator of each. */
export const HANDLERS = ['OnPartitionAssigned', 'OnRecordBatch', 'OnPartitionReleased'] as const;
export type HandlerName = (typeof HANDLERS)[number];

/** What a handler came to. Nest would turn a thrown error into a plain object; so it travels as a value. */
export type HandlerOutcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** Decorates methods of a type, or of one that looks at less. */
type HandlerDecorator<Method> = <Own extends Method>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<Own>,
) => void;

function handler(name: HandlerName): HandlerDecorator<(input: never) => Promise<unknown>> {
  return (target, key, descriptor) => {
    const method = descriptor.value;
    if (method === undefined) throw new TypeError(`@${name}() is for methods; ${key} is none`);
    const wrapped = async function (this: unknown, input: never): Promise<HandlerOutcome> {
      try {
        return { ok: true, value: await method.call(this, input) };
      } catch (error) {
        return { ok: false, error };
      }
    };
    descriptor.value = wrapped as unknown as typeof method;
    MessagePattern(name)(target, key, descriptor);
  };
}

/**
 * The application's start procedure for a partition, which is paused meanwhile: takes a PartitionAssignment, gives
 * the offset to start from. Throws PermanentPartitionError to stop the partition; any other error is tried again.
 */
export const OnPartitionAssigned = (): HandlerDecorator<
  (assignment: PartitionAssignment) => Promise<number>
> => handler('OnPartitionAssigned');

/** Takes a RecordBatch: one after the other for a partition, side by side for different ones. */
export const OnRecordBatch = (): HandlerDecorator<(batch: RecordBatch) => Promise<unknown>> =>
  handler('OnRecordBatch');

/** The partition is lost, restarted, or the process stops: finish what is in flight. Called once for every start. */
export const OnPartitionReleased = (): HandlerDecorator<
  (assignment: PartitionAssignment) => Promise<unknown>
> => handler('OnPartitionReleased');
