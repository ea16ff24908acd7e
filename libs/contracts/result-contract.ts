import { cloudEventHeaders } from './cloud-events.js';
import { MalformedRecordError } from './errors.js';
import { headerText, type RawRecord, type Source } from './record.js';

/** A compiled validator: see classes/compile-validators.ts. After a value that does not match, `errors` says why. */
interface Validator {
  (value: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message: string }[] | null;
}

/** The contract of a topic: the rules of its values, and its CloudEvents type. */
export class ResultContract<T extends object> {
  constructor(
    private readonly validator: Validator,
    private readonly type: string,
  ) {}

  /** Whether a value satisfies the rules. */
  matches(value: unknown): value is T {
    return this.validator(value);
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
    if (!this.matches(result)) throw this.malformed(this.#problems());
    return result;
  }

  malformed(problems: string): MalformedRecordError {
    return new MalformedRecordError(this.type, problems);
  }

  /** Why the last value did not match. */
  #problems(): string {
    const problems = (this.validator.errors ?? []).map(({ instancePath, message }) => {
      return `${instancePath === '' ? 'the value' : instancePath} ${message}`;
    });
    return problems.join('; ');
  }
}
