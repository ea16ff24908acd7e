import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { ScoreProducer } from '#client';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { StandingsModule } from '../standings/standings.module.js';
import { WritesController } from './writes.controller.js';

async function openProducer(
  { kafka }: KafkaConnection,
  { topicPrefix, group: ranklogGroup }: Settings,
): Promise<ScoreProducer> {
  const producer = new ScoreProducer({ kafka, topicPrefix, ranklogGroup, source: '/ranklog/http' });
  await producer.connect();
  return producer;
}

/** The writes over HTTP, for a process with the role `query` and RANKLOG_QUERY_WRITES. */
@Module({
  imports: [StandingsModule],
  controllers: [WritesController],
  providers: [
    { provide: ScoreProducer, inject: [KafkaConnection, SETTINGS], useFactory: openProducer },
  ],
})
export class WritesModule implements OnApplicationShutdown {
  constructor(private readonly producer: ScoreProducer) {}

  /** After the HTTP server has closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.producer.disconnect();
  }
}
