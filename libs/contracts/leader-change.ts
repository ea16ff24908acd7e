import { IsString } from 'class-validator';
import { LEADERS_CHANGED_TYPE } from './cloud-events.js';
import { causeId } from './dead-letter.js';
import { IsCount, IsEventTime, IsId } from './decorators.js';
import { EnteredLeader, LeftLeader } from './leader-movements.js';
import { AlsoRequired, IsListOfParts, IsPart, MayBeNull } from './nested.js';
import type { RawRecord } from './record.js';
import { MalformedResultError, ResultContract } from './result-contract.js';
import { Cause, Leader, MovedPlayer } from './result-parts.js';

/** The new top N of a view, and what moved since the last report of it. */
@AlsoRequired('since')
export class LeaderChange {
  @IsId()
  board: string;

  @IsId()
  generation: string;

  @IsString()
  view: string;

  /** View version: only grows. */
  @IsCount(1)
  version: number;

  /** Version of the report that entered, left and moved start from; null when none is known: then all have entered. */
  @MayBeNull()
  @IsCount(1)
  since: number | null;

  /** The last score event before this report that moved the view. */
  @IsPart(() => Cause)
  source: Cause;

  /** Event time of the cause. */
  @IsEventTime()
  occurredAt: string;

  @IsListOfParts(() => Leader)
  top: readonly Leader[];

  @IsListOfParts(() => EnteredLeader)
  entered: readonly EnteredLeader[];

  @IsListOfParts(() => LeftLeader)
  left: readonly LeftLeader[];

  @IsListOfParts(() => MovedPlayer)
  moved: readonly MovedPlayer[];
}

/** A record that is no leader change; `problems` says why. */
export class MalformedLeaderChangeError extends MalformedResultError {
  constructor(problems: string) {
    super('leader change', problems);
    this.name = 'MalformedLeaderChangeError';
  }
}

const contract = new ResultContract(LeaderChange, LEADERS_CHANGED_TYPE, MalformedLeaderChangeError);

/** Whether a value is a leader change. Compiled: for subscribers that read many. */
export const isLeaderChange = contract.matches;

/** The record of a leader change: key board and view, CloudEvents headers, id from its cause and the view. */
export function encodeLeaderChange(change: LeaderChange) {
  const { board, generation, view, version, since, source, occurredAt } = change;
  const { top, entered, left, moved } = change;
  const head = { board, generation, view, version, since, source, occurredAt };
  return {
    key: `${board} ${view}`,
    value: JSON.stringify({ ...head, top, entered, left, moved }),
    headers: contract.headers(`${causeId(source)} ${view}`, source),
  };
}

/** Reads a record of the leader change topic. @throws MalformedLeaderChangeError */
export function decodeLeaderChange(record: RawRecord): LeaderChange {
  return contract.decode(record);
}

/** What class-validator finds in a value that should be a leader change: nothing, when it is one. */
export function explainLeaderChange(value: unknown): string[] {
  return contract.explain(value);
}
