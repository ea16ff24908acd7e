import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { BoardReader } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import type { Settings } from '../../config/settings.js';
import { SETTINGS } from '../../infra/config.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { fewAtOnce } from './few-at-once.js';
import { PlayerRecordsController } from './player-records.controller.js';
import { WritesController } from './writes.controller.js';

export const WRITE_CONTROLLERS = [WritesController, PlayerRecordsController];

const SOURCE = '/ranklog/http';

/** The writes over HTTP, for a process with the role `query` and RANKLOG_QUERY_WRITES. */
@Module({
  controllers: WRITE_CONTROLLERS,
  providers: [
    {
      provide: ScoreProducer,
      inject: [KafkaConnection, SETTINGS, BoardReader],
      useFactory: ({ kafka }: KafkaConnection, { topicPrefix }: Settings, reader: BoardReader) =>
        new ScoreProducer({ kafka, topicPrefix, reader: fewAtOnce(reader), source: SOURCE }),
    },
    {
      provide: ModerationProducer,
      inject: [ScoreProducer, BoardReader],
      useFactory: (producer: ScoreProducer, reader: BoardReader) =>
        new ModerationProducer({ producer, reader, source: SOURCE }),
    },
  ],
})
export class WritesModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly producer: ScoreProducer) {}

  /** Nest calls this after the checks of a start, which report missing rights. */
  async onModuleInit(): Promise<void> {
    await this.producer.connect();
  }

  /** Nest calls this after the HTTP server has closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.producer.disconnect();
  }
}
