/** Boards with the difficult features: several columns, decimals, ties, windows with a dimension, duplicates, leaders. */
const FIRST = {
  arena: `
    columns: [{ name: points, decimals: 2 }, { name: wins }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { ranks: [ordinal, competition], leaders: 3, overtook: 2 }`,
  sprint: `
    columns: [{ name: seconds, update: best, order: asc, decimals: 1 }, { name: style, update: best }]
    windows: [all, week]
    timeZone: Europe/Paris
    deduplicate: 24h`,
  form: `
    columns: [{ name: rating, update: latest }, { name: games }]
    ties: latest
    maxAhead: 1d
    publish: { leaders: 5 }`,
};

export type BoardName = keyof typeof FIRST;

/** A second definition of each board. It has other views and another order, and refuses or ignores other events than the first. */
const CHANGED: Readonly<Record<BoardName, string>> = {
  arena: `
    columns: [{ name: wins }, { name: points, decimals: 1 }, { name: bonus }]
    ties: none
    maxAhead: 1d
    windows: [all, month]
    dimensions: [[], [region]]
    publish: { leaders: 4, overtook: 1 }`,
  sprint: `
    columns: [{ name: style, update: best }, { name: seconds, update: best, order: asc, decimals: 1 }]
    windows: [all]`,
  form: `
    columns: [{ name: games, order: asc }, { name: rating, update: latest }]
    windows: [all, year]
    publish: { ranks: [ordinal, competition], leaders: 5 }`,
};

export const BOARD_NAMES = Object.keys(FIRST) as readonly BoardName[];

/** A boards file in which some boards have their second definition. */
export function boardsFile(changed: readonly BoardName[] = []): string {
  const boards = BOARD_NAMES.map((board) => {
    const text = changed.includes(board) ? CHANGED[board] : FIRST[board];
    return `  ${board}:${text}`;
  });
  return `boards:\n${boards.join('\n')}\n`;
}
