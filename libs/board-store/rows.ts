/** The words of a reply, so many a row. */
export function rowsOf(words: readonly string[], length: number): string[][] {
  return Array.from({ length: words.length / length }, (_, row) =>
    words.slice(row * length, (row + 1) * length),
  );
}

/** The words of a reply, two a row: of a hash its fields and values, of a set its members and scores. */
export function pairsOf(words: readonly string[]): [string, string][] {
  return rowsOf(words, 2).map(([name = '', value = '']) => [name, value]);
}
