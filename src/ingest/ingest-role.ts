import type { DynamicModule } from '@nestjs/common';
import { KafkaBatchServer, type KafkaBatchServerOptions } from '#kafka-batch/nest';
import type { Parts } from '../parts.js';
import { finalPositions } from './final-positions.js';
import { IngestModule } from './ingest.module.js';
import { IngestServices } from './ingest-services.js';
import { LiveBoards, NoLiveBoardsError } from './live-boards.js';
import { Losses } from './losses.js';
import type { PartitionWaits } from './partition-waits.js';
import { ResultLog, ResultPartitionMissingError } from './result-log.js';
import { ScoreLog } from './score-log.js';
import { Sweeper } from './sweeper.js';

export interface IngestOptions {
  /** This process can bring boards back that Redis has lost. */
  readonly registers: boolean;
  /** Told which partitions wait. */
  readonly waits: PartitionWaits;
}

/** The role `ingest`, put together; its transport is that of `ingestTransport`. */
export function ingestRole(parts: Parts, { registers, waits }: IngestOptions): DynamicModule {
  const { settings, logger, kafka, admin, topics, store, continuity, definitions, registrar } =
    parts;
  const boards = new LiveBoards(store, async () => {
    if (registers) await registrar.register();
  });
  const scoreLog = new ScoreLog(kafka, topics.scoreEvents);
  const resultLog = new ResultLog(kafka, admin, settings);
  const kafkaSays = {
    finalPositions: async () => finalPositions(resultLog, store, await scoreLog.partitions()),
    definitionsInForce: () => definitions.readAll(),
  };
  const losses = new Losses(continuity, kafkaSays, logger);
  const services = new IngestServices({ store, boards, losses, waits, scoreLog, resultLog });
  return IngestModule.with(services, new Sweeper(store, boards, logger));
}

export function ingestTransport(
  { settings, logger, kafka, topics }: Parts,
  onFatal: KafkaBatchServerOptions['onFatal'],
): KafkaBatchServer {
  return new KafkaBatchServer({
    kafka,
    groupId: settings.group,
    topic: topics.scoreEvents,
    consumer: {
      sessionTimeout: settings.sessionTimeout,
      heartbeatInterval: Math.min(1_000, settings.sessionTimeout / 3),
    },
    connectTimeoutMs: settings.startTimeout,
    logger,
    onFatal,
  });
}

/** Whether a partition waits for people, whom a new process would wait for just as well. */
export function waitsForPeople(error: Error): boolean {
  return error instanceof ResultPartitionMissingError || error instanceof NoLiveBoardsError;
}
