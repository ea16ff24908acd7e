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

  const skipped = await passOverSkipped(session);
  const wasSkipped = skipped.some((batch) => isSameBatch(batch, place));
  const found = await unreadableFrom(kafka, { topic, partition, offset: first });
  const isUnreadable = found !== undefined && isSameBatch(found.batch, place);

  const positions = new PublishedPositions(session, identity.group, stores.store);
  const published = await positions.of(partition);
  const isApplied = first < published;

  if (isUnreadable) await definitions.skip(found.batch);
  else if (!wasSkipped) throw skipRefusal(place, found);

  print({ topic, partition, first, last, isApplied }, options, toText);
  return EXIT.ok;
}

/** Whether two batches of the score topic have the same place. */
function isSameBatch(one: Omit<BatchPlace, 'topic'>, other: BatchPlace): boolean {
  return one.partition === other.partition && one.first === other.first && one.last === other.last;
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
