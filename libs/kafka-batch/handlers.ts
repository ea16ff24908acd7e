import { MessagePattern } from '@nestjs/microservices';
import type { PartitionAssignment, RecordBatch } from './types.js';

/** The patterns that controllers of a batch consumer handle, by the decorator of each. */
export const HANDLERS = ['OnPartitionAssigned', 'OnRecordBatch', 'OnPartitionReleased'] as const;
export type HandlerName = (typeof HANDLERS)[number];

/** What a handler came to. Nest would turn a thrown error into a plain object; so it travels as a value. */
export type HandlerOutcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- they type the method that is decorated
function handler<Input, Answer>(name: HandlerName) {
  return <Output extends Answer>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<(input: Input) => Promise<Output>>,
  ): void => {
    const method = descriptor.value;
    if (method === undefined) throw new TypeError(`@${name}() is for methods; ${key} is none`);
    const wrapped = async function (this: unknown, input: Input): Promise<HandlerOutcome> {
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
export const OnPartitionAssigned = () =>
  handler<PartitionAssignment, number>('OnPartitionAssigned');

/** Takes a RecordBatch: one after the other for a partition, side by side for different ones. */
export const OnRecordBatch = () => handler<RecordBatch, unknown>('OnRecordBatch');

/** The partition is lost, restarted, or the process stops: finish what is in flight. Called once for every start. */
export const OnPartitionReleased = () =>
  handler<PartitionAssignment, unknown>('OnPartitionReleased');
