// @ts-check
import { RankChangeSubscriber } from '#client';

/** @typedef {import('#client').RankChange} RankChange */
/**
 * @typedef {{ change: RankChange, movement: RankChange['changes'][number], places: number }} Move
 * `places`: ranks gained
 */

/**
 * Reads rank changes from the beginning until there are `expected` of them, or for 20 s.
 * @param {import('kafkajs').Kafka} kafka @param {string} name topic prefix @param {number} expected
 * @returns {Promise<RankChange[]>}
 */
export async function readRankChanges(kafka, name, expected) {
  const groupId = `${name}-demo`;
  const subscriber = new RankChangeSubscriber({
    kafka,
    groupId,
    topicPrefix: name,
    fromBeginning: true,
  });
  /** @type {RankChange[]} */
  const changes = [];
  await new Promise((resolve, reject) => {
    setTimeout(() => resolve(undefined), 20_000).unref();
    subscriber.failed.catch(reject);
    subscriber
      .start((change) => {
        if (changes.push(change) === expected) resolve(undefined);
      })
      .catch(reject);
  });
  await subscriber.stop();
  const admin = kafka.admin();
  await admin.connect();
  await admin.deleteGroups([groupId]);
  await admin.disconnect();
  return changes;
}

/**
 * The `most` largest movements in one view, largest first.
 * @param {RankChange[]} changes @param {string} view @param {number} most
 * @returns {Move[]}
 */
export function liveliest(changes, view, most) {
  return changes
    .flatMap((change) =>
      change.changes
        .filter(
          (movement) =>
            movement.view === view && movement.before !== null && movement.after !== null,
        )
        .map((movement) => ({
          change,
          movement,
          places: (movement.before?.rank ?? 0) - (movement.after?.rank ?? 0),
        })),
    )
    .sort((a, b) => Math.abs(b.places) - Math.abs(a.places))
    .slice(0, most);
}
