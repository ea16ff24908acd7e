/** The name and the length of the windows that close. */
export const ROUND = { name: 'interval:round', ms: 5_000 } as const;
export const GRACE_MS = 2_000;
export const REVIEW_MS = 3_000;

function rounds(results: number): string {
  const close = `{ from: 2026-01-01, grace: ${GRACE_MS}ms, review: ${REVIEW_MS}ms, results: ${results} }`;
  return `[{ interval: round, cron: '*/5 * * * * *', start: 2026-01-01, close: ${close} }]`;
}

/**
 * Boards with the difficult features: several columns, decimals, ties, windows with a dimension,
 * duplicates, leaders, closing windows.
 */
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
  blitz: `
    columns: [{ name: points }]
    windows: ${rounds(5)}
    dimensions: [[], [region]]
    publish: { leaders: 3 }`,
};

export type BoardName = keyof typeof FIRST;

/**
 * A second definition of each board. It has other views and another order, and refuses or ignores
 * other events than the first.
 */
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
  blitz: `
    columns: [{ name: points, order: asc, decimals: 1 }]
    ties: latest
    windows: ${rounds(3)}
    late: count
    dimensions: [[region]]
    publish: { ranks: [ordinal, competition] }`,
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
