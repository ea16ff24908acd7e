import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { BoardReader } from '#board-store';
import { ScoreProducer } from '#client';
import type { Settings } from '../../config/settings.js';
import { SETTINGS } from '../../infra/config.module.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { fewAtOnce } from './few-at-once.js';
import { WritesController } from './writes.controller.js';

/** The writes over HTTP, for a process with the role `query` and RANKLOG_QUERY_WRITES. */
@Module({
  controllers: [WritesController],
  providers: [
    {
      provide: ScoreProducer,
      inject: [KafkaConnection, SETTINGS, BoardReader],
      useFactory: ({ kafka }: KafkaConnection, { topicPrefix }: Settings, reader: BoardReader) =>
        new ScoreProducer({
          kafka,
          topicPrefix,
          reader: fewAtOnce(reader),
          source: '/ranklog/http',
        }),
    },
  ],
})
export class WritesModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly producer: ScoreProducer) {}

  /** After the checks of a start, which say what rights are missing. */
  async onModuleInit(): Promise<void> {
    await this.producer.connect();
  }

  /** After the HTTP server has closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.producer.disconnect();
  }
}
