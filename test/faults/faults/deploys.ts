import { CompressionTypes, Partitioners } from 'kafkajs';
import { MAX_DECOMPRESSED_BYTES, passOver, unreadableFrom } from '#kafka-batch';
import { eventually } from '../../support/eventually.js';
import { below, type Random } from '../random.js';
import { MAX_WORKERS, PARTITIONS, type World } from '../world/world.js';
import type { Fault } from './fault.js';
import { addWorker, terminate } from './workers.js';

/**
 * Replaces all workers, at least three, one after the other, as a deploy does: SIGTERM to each,
 * which must end with exit code 0; its successor starts before or after that.
 */
async function rollingDeploy(world: World, random: Random): Promise<void> {
  while (world.running.length < MAX_WORKERS) await addWorker(world);
  const leaving = world.running;
  const isSurge = random() < 0.5;
  for (const worker of leaving) {
    if (isSurge) await addWorker(world);
    await world.publishedMore(1 + below(random, MOST_BETWEEN));
    await terminate(world, worker);
    if (!isSurge) await addWorker(world);
  }
  world.did('rolling deploys', `rolling deploy: ${leaving.length} workers were replaced`);
}

const MOST_BETWEEN = 40;

const NEVER = {
  board: 'arena',
  playerId: 'never',
  deltas: { points: '1', wins: 1 },
  attributes: { region: 'eu' },
};

/**
 * Sends a batch that is larger, when decompressed, than any reader accepts, but begins with a valid
 * event. Returns it.
 */
async function sendTooLarge(world: World, partition: number) {
  const topic = world.topics.scoreEvents;
  const producer = world.client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const values = [JSON.stringify(NEVER), Buffer.alloc(MAX_DECOMPRESSED_BYTES)];
  const messages = values.map((value) => ({ partition, key: NEVER.playerId, value }));
  await producer.connect();
  const [sent] = await producer.send({ topic, messages, compression: CompressionTypes.GZIP });
  await producer.disconnect();
  const offset = Number(sent?.baseOffset);
  const found = await unreadableFrom(world.client, { topic, partition, offset });
  if (found === undefined) throw new Error('the batch can be read');
  return found.batch;
}

/**
 * A batch stops its partition. `ranklog skip` gives it up, and a rolling deploy restarts the
 * workers, as that command asks.
 */
async function skipBatch(world: World, random: Random): Promise<void> {
  const batch = await sendTooLarge(world, below(random, PARTITIONS));
  const place = `${batch.topic}/${batch.partition}/${batch.first}-${batch.last}`;
  await eventually(
    () => world.running.some((worker) => worker.count(`ranklog skip ${place}`) > 0),
    `a worker names ${place}`,
  );
  world.note(`partition ${batch.partition} stopped before a batch that cannot be read`);
  await world.publishedMore(20); // in the other partitions
  await world.skip(place).output();
  passOver([batch]); // the checks read the log in this process
  await rollingDeploy(world, random);
  await world.publishedEverywhere();
  world.did('batches skipped', 'the batch was skipped');
}

export const DEPLOY_FAULTS: readonly Fault[] = [
  { name: 'rolling-deploy', run: rollingDeploy },
  { name: 'skip-batch', run: skipBatch },
];
