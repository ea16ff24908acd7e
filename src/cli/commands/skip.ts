import { unreadableFrom, type BatchPlace } from '#kafka-batch';
import { passOverSkipped } from '../../registry/definitions-log.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { print } from '../output.js';
import { withReconciliation } from '../reconciliation-session.js';
import type { JsonOption } from '../usage/options.js';

/**
 * Gives up a batch that can't be read. Refuses any other offsets than those of such a batch, so that no readable event is lost.
 * Safe to repeat.
 */
export function skip(place: BatchPlace, options: JsonOption): Promise<number> {
  return withReconciliation(async (session) => {
    const { kafka, topics, definitions } = session;
    const { topic, partition, first, last } = place;
    if (topic !== topics.scoreEvents)
      throw new CommandError(
        `only batches of ${topics.scoreEvents} can be skipped; to go on behind results, set the offset of the subscriber's group: ` +
          `kafka-consumer-groups --reset-offsets --to-offset ${last + 1} --topic ${topic}:${partition} --group GROUP --execute`,
        EXIT.usage,
      );
    const skipped = await passOverSkipped(session);
    const isDone = skipped.some(
      (done) => done.partition === partition && done.first === first && done.last === last,
    );
    if (!isDone) {
      const found = await unreadableFrom(kafka, { topic, partition, offset: first });
      if (found === undefined)
        throw new CommandError(`${topic}/${partition} can be read at offset ${first}`, EXIT.no);
      if (found.batch.first !== first || found.batch.last !== last)
        throw new CommandError(`these are other offsets: ${found.message}`, EXIT.no);
      await definitions.skip(place);
    }
    print({ topic, partition, first, last }, options, toText);
    return EXIT.ok;
  });
}

function toText({ topic, partition, first, last }: BatchPlace): string {
  return (
    `${topic}/${partition}: offsets ${first} to ${last} are given up for all boards, now and in every build. ` +
    'Restart the processes with the roles ingest and reconciliation.'
  );
}
