import kafkajs from 'kafkajs';
import { isError, toError } from '#errors';

type Answers<Key, Answer> = ReadonlyMap<Key, Answer | Error | undefined>;

/**
 * Combines look-ups into shared requests. One request runs at a time; look-ups made meanwhile go
 * into the next one. So no answer is older than its look-up: a caller that fences a producer and
 * then looks up an offset gets the final offset.
 */
export class Batched<Key, Answer> {
  readonly #keys = new Set<Key>();
  #next: Promise<Answers<Key, Answer>> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param request may return an error for a key */
  constructor(private readonly request: (keys: readonly Key[]) => Promise<Answers<Key, Answer>>) {}

  /** The answer for one key; undefined if the response lacks the key. */
  async get(key: Key): Promise<Answer | undefined> {
    this.#keys.add(key);
    this.#next ??= this.#last.then(() => {
      const keys = [...this.#keys];
      this.#keys.clear();
      this.#next = undefined;
      return this.#requestEach(keys);
    });
    this.#last = this.#next;
    const answer = (await this.#next).get(key);
    if (isError(answer)) throw answer;
    return answer;
  }

  /**
   * Requests keys together; never rejects. If one key has an error, kafkajs fails the whole
   * request. Then each key gets a request of its own.
   */
  async #requestEach(keys: readonly Key[]): Promise<Answers<Key, Answer>> {
    try {
      return await this.request(keys);
    } catch (error) {
      if (keys.length === 1 || !(error instanceof kafkajs.KafkaJSProtocolError))
        return new Map(keys.map((key) => [key, toError(error)]));
      const answers = new Map<Key, Answer | Error | undefined>();
      for (const key of keys) answers.set(key, (await this.#requestEach([key])).get(key));
      return answers;
    }
  }
}

/** Creates one value per client, and keeps it as long as the client exists. */
export function perClient<Client extends object, Value>(
  create: (client: Client) => Value,
): (client: Client) => Value {
  const values = new WeakMap<Client, Value>();
  return (client) => {
    const value = values.get(client) ?? create(client);
    values.set(client, value);
    return value;
  };
}
