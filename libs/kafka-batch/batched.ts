import kafkajs from 'kafkajs';
import { toError } from './errors.js';

type Answers<Key, Answer> = ReadonlyMap<Key, Answer | Error | undefined>;

/**
 * Joins look-ups into shared requests. One request is made at a time; look-ups made meanwhile go into the next one. So
 * no answer is older than its look-up: a caller that fences first and then looks up a position gets the final one.
 */
export class Batched<Key, Answer> {
  readonly #keys = new Set<Key>();
  #next: Promise<Answers<Key, Answer>> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `ask` may return an error for a key. */
  constructor(private readonly ask: (keys: readonly Key[]) => Promise<Answers<Key, Answer>>) {}

  /** The answer for one key; undefined if the response lacks it. */
  async get(key: Key): Promise<Answer | undefined> {
    this.#keys.add(key);
    this.#next ??= this.#last.then(() => {
      const keys = [...this.#keys];
      this.#keys.clear();
      this.#next = undefined;
      return this.#request(keys);
    });
    this.#last = this.#next;
    const answer = (await this.#next).get(key);
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** Never rejects. kafkajs fails the whole request for the error of one key, so each key is then asked for alone. */
  async #request(keys: readonly Key[]): Promise<Answers<Key, Answer>> {
    try {
      return await this.ask(keys);
    } catch (error) {
      if (keys.length === 1 || !(error instanceof kafkajs.KafkaJSProtocolError))
        return new Map(keys.map((key) => [key, toError(error)]));
      const answers = new Map<Key, Answer | Error | undefined>();
      for (const key of keys) answers.set(key, (await this.#request([key])).get(key));
      return answers;
    }
  }
}

/** Makes one value per client, kept as long as the client. */
export function perClient<Client extends object, Value>(
  make: (client: Client) => Value,
): (client: Client) => Value {
  const made = new WeakMap<Client, Value>();
  return (client) => {
    const value = made.get(client) ?? make(client);
    made.set(client, value);
    return value;
  };
}
