/** Boards that use what is hard: several columns, decimals, ties, windows with a dimension, duplicates, leaders. */
export const BOARDS = `
boards:
  arena:
    columns: [{ name: points, decimals: 2 }, { name: wins }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: 3, overtook: 2 }
  sprint:
    columns: [{ name: seconds, update: best, order: asc, decimals: 1 }, { name: style, update: best }]
    windows: [all, week]
    timeZone: Europe/Paris
    deduplicate: 24h
  form:
    columns: [{ name: rating, update: latest }, { name: games }]
    ties: latest
    publish: { leaders: 5 }
`;
