import { RanklogError } from '#errors';
import type { ObjectCheck } from './checks.js';
import { cloudEventHeaders } from './cloud-events.js';
import { headerText, type RawRecord, type Source } from './record.js';

/** A record that breaks the contract of its topic. A retry never helps. */
export class MalformedRecordError extends RanklogError {
  readonly code = 'MALFORMED_RECORD';

  /** `expected` is a CloudEvents type, such as `ranklog.rank-changed.v1`. */
  constructor(
    readonly expected: string,
    readonly problems: string,
  ) {
    super(`not a ${expected}: ${problems}`);
  }
}

/** The contract of a topic: the CloudEvents type and the fields of its records. */
export class ResultContract<T extends object> {
  constructor(
    private readonly type: string,
    private readonly check: ObjectCheck<T>,
  ) {}

  /** The JSON text of a result, without other fields that the object may have. */
  encode(result: T): string {
    const fields: Partial<T> = {};
    for (const field of this.check.fields) fields[field] = result[field];
    return JSON.stringify(fields);
  }

  /** The CloudEvents headers of a record. `ce_source` names the topic of `source`. */
  headers(id: string, source: Pick<Source, 'topic'>) {
    return cloudEventHeaders({ id, type: this.type, source: `/ranklog/${source.topic}` });
  }

  /** @throws MalformedRecordError */
  decode(record: RawRecord): T {
    const type = headerText(record, 'ce_type');
    if (type !== undefined && type !== this.type) throw this.malformed(`ce_type is ${type}`);
    let result: unknown;
    try {
      result = JSON.parse(record.value?.toString('utf8') ?? '');
    } catch {
      throw this.malformed('the value is not JSON');
    }
    const problem = this.check.problem(result);
    if (problem !== undefined) throw this.malformed(`value${problem}`);
    return result as T;
  }

  malformed(problems: string): MalformedRecordError {
    return new MalformedRecordError(this.type, problems);
  }
}
