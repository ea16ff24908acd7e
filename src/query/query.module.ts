import { Module } from '@nestjs/common';
import { LiveStreams } from './live/live-streams.js';
import { LiveController } from './live/live.controller.js';
import { BansController } from './reads/bans.controller.js';
import { BoardsController } from './reads/boards.controller.js';
import { ExportController } from './reads/export.controller.js';
import { PageController } from './reads/page.controller.js';
import { PlayersController, StandingsController } from './reads/standings.controller.js';
import { KeptPeriods, PeriodsController } from './status/periods.controller.js';
import { ReconciliationsController } from './status/reconciliations.controller.js';
import { StatusController } from './status/status.controller.js';

export const READ_CONTROLLERS = [
  BoardsController,
  StandingsController,
  PlayersController,
  ExportController,
  BansController,
  LiveController,
  PageController,
  PeriodsController,
  StatusController,
];

/** The role `query`: answers reads of the boards and streams their changes, over HTTP. */
@Module({
  controllers: [...READ_CONTROLLERS, ReconciliationsController],
  providers: [LiveStreams, KeptPeriods],
})
export class QueryModule {}
