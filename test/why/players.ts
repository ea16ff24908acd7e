/** The gain of a player at one time (ms since 1970): a whole number for each column. */
export interface Gain {
  readonly values: readonly number[];
  readonly at: number;
}

/** A player with the sums of the gains (larger is better), and the time when they were reached. */
export interface Player {
  readonly id: string;
  readonly columns: readonly number[];
  readonly at: number;
  /** By time, without gains of zero; if all are zero, the first one. */
  readonly gains: readonly Gain[];
}

/** The player with these gains. If all are zero, the first one gives the time. */
export function playerOf(id: string, all: readonly Gain[]): Player {
  const ordered = [...all].sort((a, b) => a.at - b.at);
  const some = ordered.filter(({ values }) => values.some((value) => value !== 0));
  const gains = some.length > 0 ? some : ordered.slice(0, 1);
  const columns = (all[0]?.values ?? []).map((_, column) =>
    all.reduce((sum, { values }) => sum + (values[column] ?? 0), 0),
  );
  return { id, columns, at: gains.at(-1)?.at ?? 0, gains };
}

/** The exact order: by columns, then time, then the bytes of the id. */
export function compare(a: Player, b: Player): number {
  for (const [index, value] of a.columns.entries()) {
    const difference = (b.columns[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return a.at - b.at || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}
