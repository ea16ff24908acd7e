import type { Header } from './script-header.js';

export type Argument = string | number | Buffer;

/** Keys and arguments by the names of a header, which are in camel case here; of a list, an array. */
export type Named = Readonly<Record<string, Argument | readonly Argument[]>>;

/** Puts the keys and arguments of a call in the order of a script's header. */
export class ArgumentOrder {
  readonly #keys: Names;
  readonly #arguments: Names;
  readonly #names: readonly string[];

  constructor(
    private readonly script: string,
    header: Header,
  ) {
    this.#keys = namesOf(header.keys);
    this.#arguments = namesOf(header.arguments);
    const parts = [this.#keys, this.#arguments];
    this.#names = parts.flatMap(({ fixed, lists }) => [...fixed, ...lists]);
  }

  /**
   * The words that EVALSHA takes: number of keys, keys, arguments. Throws unless `named` has exactly
   * the names of the header. Lists are long: concat copies them several times faster than a spread.
   */
  words(named: Named): Argument[] {
    const keys = this.#inOrder(this.#keys, named);
    const words = this.#inOrder(this.#arguments, named);
    const given = Object.keys(named);
    if (given.length > this.#names.length) {
      const unknown = given.filter((name) => !this.#names.includes(name));
      throw new Error(`${this.script} does not take ${unknown.join(', ')}`);
    }
    const count: Argument[] = [keys.length];
    return count.concat(keys, words);
  }

  #inOrder({ fixed, lists }: Names, named: Named): Argument[] {
    let values: Argument[] = [];
    for (const name of fixed) {
      const value = named[name];
      if (value === undefined || value instanceof Array) throw this.#error(name, 'a value');
      values.push(value);
    }
    for (const name of lists) {
      const value = named[name];
      if (!(value instanceof Array)) throw this.#error(name, 'an array');
      values = values.concat(value);
    }
    return values;
  }

  #error(name: string, kind: string): Error {
    return new Error(`${this.script} was called without ${kind} for ${name}`);
  }
}

/** The names of keys, or of arguments, in camel case. */
interface Names {
  readonly fixed: readonly string[];
  readonly lists: readonly string[];
}

function namesOf(header: readonly string[]): Names {
  const names = header.map((name) =>
    name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  );
  const lists = names.filter((name) => name.endsWith('...'));
  return {
    fixed: names.slice(0, names.length - lists.length),
    lists: lists.map((name) => name.replace('...', '')),
  };
}
