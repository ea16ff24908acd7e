import { plainToInstance } from 'class-transformer';
import { IsString, validateSync } from 'class-validator';
import { cloudEventHeaders } from './cloud-events.js';
import { compileValidator } from './compile-validator.js';
import { IsColumns, IsCount, IsId, MayBeAbsent } from './decorators.js';
import { MalformedRecordError } from './errors.js';
import { headerText, type RawRecord, type Source } from './record.js';
import { isPlainObject } from './values.js';

/** The contract of a topic: a class with rules, and its CloudEvents type. */
export class ResultContract<T extends object> {
  /** Whether a value satisfies the rules of the class. Compiled. */
  readonly matches: (value: unknown) => value is T;

  constructor(
    private readonly target: new () => T,
    private readonly type: string,
  ) {
    this.matches = compileValidator(target);
  }

  /** The CloudEvents headers of a record. `ce_source` names the topic of `source`. */
  headers(id: string, source: Pick<Source, 'topic'>) {
    return cloudEventHeaders({ id, type: this.type, source: `/ranklog/${source.topic}` });
  }

  /** @throws MalformedRecordError */
  decode({ value, headers }: RawRecord): T {
    const type = headerText(headers, 'ce_type');
    if (type !== undefined && type !== this.type) throw this.malformed(`ce_type is ${type}`);
    let result: unknown;
    try {
      result = JSON.parse(value?.toString('utf8') ?? '');
    } catch {
      throw this.malformed('the value is not JSON');
    }
    if (!this.matches(result)) throw this.malformed(this.explain(result).join('; '));
    return result;
  }

  malformed(problems: string): MalformedRecordError {
    return new MalformedRecordError(this.type, problems);
  }

  /** Why a value does not match; empty if it does. Slow. */
  explain(value: unknown): string[] {
    if (!isPlainObject(value)) return ['the value is not an object'];
    return validateSync(plainToInstance(this.target, value)).map((error) => error.toString());
  }
}

/** The score event that caused a result. */
export class Cause {
  @IsString()
  topic: string;

  @IsCount(0)
  partition: number;

  @IsCount(0)
  offset: number;
}

/** The place of a player in a view. Columns are decimal strings. */
class Placing {
  @IsCount(1)
  rank: number;

  @IsColumns()
  columns: Readonly<Record<string, string>>;
}

/** A place in a rank change. `competitionRank` is the rank that players with equal columns share, if the board publishes it. */
export class RankPlacing extends Placing {
  @MayBeAbsent()
  @IsCount(1)
  competitionRank?: number;
}

/** A player in the top N of a view. */
export class Leader extends Placing {
  @IsId()
  playerId: string;

  @IsCount(1)
  competitionRank: number;
}

/** A player whose rank has changed. */
export class MovedPlayer {
  @IsId()
  playerId: string;

  @IsCount(1)
  rankBefore: number;

  @IsCount(1)
  rankAfter: number;
}
