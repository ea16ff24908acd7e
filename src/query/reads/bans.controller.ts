import { Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { formatTime } from '#board';
import { BoardReader, type BanEntry } from '#board-store';
import { BansQuery, BoardParams, BoardPlayerParams, NoQuery } from '../dto/requests.js';
import { Bans, PlayerBan } from '../dto/responses.js';
import { Read, RequireScope } from '../http/route.js';
import { Answers } from './answers.js';

/** The banned and erased players, and the scores that the board keeps; only for operators. */
@Controller('v1/boards/:board/bans')
@UseInterceptors(Answers)
export class BansController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('operate')
  @Read('', Bans, 'The players who are banned or erased, the latest first')
  async bans(@Param() { board }: BoardParams, @Query() query: BansQuery) {
    const { bans, ...page } = await this.reader.bans(board, query);
    return { ...page, bans: bans.map(banJson) };
  }

  @RequireScope('operate')
  @Read(':player', PlayerBan, 'The ban, unban or erasure that counts for a player')
  async ban(@Param() { board, player }: BoardPlayerParams, @Query() _: NoQuery) {
    // Read this first: if the board is not stale, the ban register that is read next is complete.
    const stale = await this.reader.isStale(board);
    const [ban, kept] = await Promise.all([
      this.reader.ban(board, player),
      this.reader.kept(board, player),
    ]);
    return { board, playerId: player, stale, ban: ban && banJson(ban), kept };
  }
}

function banJson({ time, ...entry }: BanEntry) {
  return { ...entry, time: formatTime(time) };
}
