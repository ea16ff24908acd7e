import type { Header } from './script-header.js';

export type Argument = string | number | Buffer;

/** Keys and arguments by the names of a header in camel case. The value of a list is an array. */
export type Named = Readonly<Record<string, Argument | readonly Argument[]>>;

/** Puts the keys and arguments of a call in the order of a script's header. */
export class ArgumentOrder {
  readonly #keys: readonly Parameter[];
  readonly #arguments: readonly Parameter[];

  constructor(
    private readonly script: string,
    header: Header,
  ) {
    this.#keys = header.keys.map(parameterOf);
    this.#arguments = header.arguments.map(parameterOf);
  }

  /**
   * The words that EVALSHA takes: number of keys, keys, arguments. Throws unless `named` has
   * exactly the names of the header.
   */
  words(named: Named): Argument[] {
    const keys = this.#inOrder(this.#keys, named);
    const words = this.#inOrder(this.#arguments, named);
    if (Object.keys(named).length > this.#keys.length + this.#arguments.length)
      throw new Error(`${this.script} does not take ${this.#unknown(named).join(', ')}`);

    // Lists are long, and concat copies them several times faster than a spread.
    const count: Argument[] = [keys.length];
    return count.concat(keys, words);
  }

  #inOrder(parameters: readonly Parameter[], named: Named): Argument[] {
    let values: Argument[] = [];
    for (const { name, isList } of parameters) {
      const value = named[name];
      const isArray = value instanceof Array;
      if (value === undefined || isArray !== isList)
        throw new Error(`${this.script} needs ${isList ? 'an array' : 'a value'} for ${name}`);
      if (isArray) values = values.concat(value);
      else values.push(value);
    }
    return values;
  }

  #unknown(named: Named): string[] {
    const known = [...this.#keys, ...this.#arguments].map(({ name }) => name);
    return Object.keys(named).filter((name) => !known.includes(name));
  }
}

interface Parameter {
  readonly name: string;
  readonly isList: boolean;
}

function parameterOf(name: string): Parameter {
  const camelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return { name: camelCase.replace('...', ''), isList: name.endsWith('...') };
}
