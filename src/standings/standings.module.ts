import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { BoardReader, IdentityCheck, KeySpace } from '#board-store';
import { LiveController } from '../live/live.controller.js';
import { LiveStreams } from '../live/live-streams.js';
import { RegistryModule } from '../registry/registry.module.js';
import { BoardsController } from './boards.controller.js';
import { PlayersController, StandingsController } from './standings.controller.js';

export const READ_CONTROLLERS = [
  BoardsController,
  StandingsController,
  PlayersController,
  LiveController,
];

/** A connection for reads alone, so that ingest never waits for their replies. */
const READ_REDIS = Symbol('ReadRedis');

/** The role `query`: answers reads of the boards over HTTP. */
@Module({
  imports: [RegistryModule],
  controllers: READ_CONTROLLERS,
  providers: [
    { provide: READ_REDIS, inject: [Redis, IdentityCheck], useFactory: connectAgain },
    {
      provide: BoardReader,
      inject: [READ_REDIS, KeySpace],
      useFactory: (redis: Redis, { prefix }: KeySpace) => new BoardReader({ redis, prefix }),
    },
    LiveStreams,
  ],
})
export class StandingsModule implements OnApplicationShutdown {
  constructor(@Inject(READ_REDIS) private readonly redis: Redis) {}

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

/** Connects once IdentityCheck has found Redis. */
async function connectAgain(redis: Redis): Promise<Redis> {
  const own = redis.duplicate();
  own.on('error', () => undefined); // reads report errors
  await own.connect();
  return own;
}
