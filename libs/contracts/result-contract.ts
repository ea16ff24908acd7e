import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { cloudEventHeaders } from './cloud-events.js';
import { compileValidator } from './compile-validator.js';
import type { Source } from './dead-letter.js';
import { headerText, type RawRecord } from './record.js';

/** A record that is not the result it should be; `problems` says why. */
export abstract class MalformedResultError extends Error {
  constructor(
    what: string,
    readonly problems: string,
  ) {
    super(`not a ${what}: ${problems}`);
  }
}

/** The contract of a result topic: a class with rules, its CloudEvents type, and the error of what breaks it. */
export class ResultContract<T extends object> {
  /** Whether a value keeps to the rules of the class. Compiled: for subscribers that read many. */
  readonly matches: (value: unknown) => value is T;

  constructor(
    private readonly target: new () => T,
    private readonly type: string,
    private readonly malformed: new (problems: string) => MalformedResultError,
  ) {
    this.matches = compileValidator(target);
  }

  /** CloudEvents headers of a result of `source`; `id` is derived from it. */
  headers(id: string, source: Pick<Source, 'topic'>) {
    return cloudEventHeaders({ id, type: this.type, source: `/ranklog/${source.topic}` });
  }

  /** Reads a record of the topic. @throws the error of the contract */
  decode({ value, headers }: RawRecord): T {
    const type = headerText(headers, 'ce_type');
    if (type !== undefined && type !== this.type)
      throw new this.malformed(`ce_type is ${type}, not ${this.type}`);
    let result: unknown;
    try {
      result = JSON.parse(value?.toString('utf8') ?? '');
    } catch {
      throw new this.malformed('the value is not JSON');
    }
    if (!this.matches(result)) throw new this.malformed(this.explain(result).join('; '));
    return result;
  }

  /** What class-validator finds wrong with a value: nothing, when `matches`. Slow. */
  explain(value: unknown): string[] {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return ['it is not an object'];
    const errors: ValidationError[] = validateSync(plainToInstance(this.target, value));
    return errors.map((error) => error.toString());
  }
}
