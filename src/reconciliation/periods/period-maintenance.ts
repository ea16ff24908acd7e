import { Injectable } from '@nestjs/common';
import { Logger } from '../../infra/logger.js';
import { Maintenance } from '../../infra/maintenance.js';
import { PeriodAnnouncer } from './period-announcer.js';

const EVERY_MS = 2_000;

/** Runs the announcer. */
@Injectable()
export class PeriodMaintenance extends Maintenance {
  constructor(announcer: PeriodAnnouncer, logger: Logger) {
    const task = {
      onFailure: "results of closed windows can't be announced now",
      everyMs: EVERY_MS,
      run: (signal: AbortSignal) => announcer.turn(signal),
    };
    super([task], logger);
  }
}
