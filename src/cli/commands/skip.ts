import { unreadableFrom, type BatchPlace, type UnreadableBatchError } from '#kafka-batch';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import { PublishedPositions } from '../../ingest/published-positions.js';
import { openReconciliation } from '../sessions/reconciliation-session.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print } from '../text/output.js';

/**
 * Gives up a batch that can't be read. Refuses all offsets that are not exactly such a batch, so
 * that no readable event is lost. Safe to repeat.
 */
export async function skip(place: BatchPlace, options: JsonOption): Promise<number> {
  await using session = await openReconciliation();
  const { kafka, topics, definitions, identity, stores } = session;
  const { topic, partition, first, last } = place;
  if (topic !== topics.scoreEvents)
    throw new CommandError(
      `only batches of ${topics.scoreEvents} can be skipped; to go on behind results, set the ` +
        "offset of the subscriber's group: kafka-consumer-groups --reset-offsets --to-offset " +
        `${last + 1} --topic ${topic}:${partition} --group GROUP --execute`,
      EXIT.usage,
    );

  const isSame = (other: Omit<BatchPlace, 'topic'>) =>
    other.partition === partition && other.first === first && other.last === last;
  const skipped = await passOverSkipped(session);
  const found = await unreadableFrom(kafka, { topic, partition, offset: first });
  const positions = new PublishedPositions(session, identity.group, stores.store);
  const isApplied = first < (await positions.of(partition));
  if (found !== undefined && isSame(found.batch)) await definitions.skip(found.batch);
  else if (!skipped.some(isSame)) throw skipRefusal(place, found);

  print({ topic, partition, first, last, isApplied }, options, toText);
  return EXIT.ok;
}

function skipRefusal(place: BatchPlace, found: UnreadableBatchError | undefined): CommandError {
  const { topic, partition, first } = place;
  const problem =
    found === undefined
      ? `${topic}/${partition} can be read at offset ${first}`
      : `these are other offsets: ${found.message}`;
  return new CommandError(problem, EXIT.no);
}

/** `isApplied`: an earlier version of ranklog could read the batch, and published its results. */
type Skipped = BatchPlace & { readonly isApplied: boolean };

function toText({ topic, partition, first, last, isApplied }: Skipped): string {
  const place = `${topic}/${partition}: offsets ${first} to ${last}`;
  const restart = 'Restart the processes with the roles ingest and reconciliation.';
  return isApplied
    ? `${place} are given up: builds will lack these events. The live boards have them ` +
        `already. ${restart}`
    : `${place} are given up for all boards, now and in every build. ${restart}`;
}
