import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ScoreProducer } from '#client';
import type { ScoreEvent } from '#contracts';
import { toError } from '#errors';
import { openKafka, whenClosed } from '../sessions/kafka-session.js';

const BOARD = 'arena';

/** The boards file that `ranklog dev` writes into a folder without one. */
const STARTER_FILE = `# The boards of ranklog. While "ranklog dev" runs, it shows what a change of this file would do.
# docs/guide.md of the package explains all fields; "ranklog boards schema" prints their JSON Schema.
boards:
  ${BOARD}:
    # A score event adds its delta to the points of a player. Other updates: best, latest.
    columns: [{ name: points, update: sum }]
    # A ranking of all time, and one of each day.
    windows: [all, day]
    # Delete the # of the next line to rank each region, too. The sample events have regions.
    # dimensions: [[], [region]]
`;

const REGIONS = ['eu', 'us', 'asia'] as const;
const PLAYERS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida', 'joe'];
const LARGEST_DELTA = 20;
const SAMPLE_EVERY_MS = 500;

/** Writes the starter file. @throws an error if there is a file */
export async function writeStarterFile(file: string): Promise<void> {
  await writeFile(file, STARTER_FILE, { flag: 'wx' });
}

export async function isStarterFile(file: string): Promise<boolean> {
  return (await readFile(file, 'utf8')) === STARTER_FILE;
}

/** Sends a sample event every half second until the signal is aborted. */
export async function sendSampleEvents(signal: AbortSignal): Promise<void> {
  await using session = await openKafka();
  const { kafka, logger } = session;
  const { topicPrefix } = session.settings;
  const producer = new ScoreProducer({ kafka, topicPrefix, source: '/ranklog/dev' });
  try {
    for (;;) {
      await producer.send(sampleEvent());
      await delay(SAMPLE_EVERY_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) logger.warn(`no more sample events: ${toError(error).message}`);
  } finally {
    await whenClosed(producer.disconnect(), logger);
  }
}

/** A score event of a random player for the board of the starter file. */
function sampleEvent(): ScoreEvent {
  const index = randomInt(PLAYERS.length);
  return {
    board: BOARD,
    playerId: PLAYERS[index] ?? '',
    delta: 1 + randomInt(LARGEST_DELTA),
    attributes: { region: REGIONS[index % REGIONS.length] ?? '' },
  };
}
