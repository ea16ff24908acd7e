import type { Leader, LeaderChange, PeriodResult, RankChange } from '#client';

type Movement = RankChange['changes'][number];

/** A line for each view: time, board, player, view, ranks and columns. */
export function rankChangeLines({ board, playerId, occurredAt, changes }: RankChange): string {
  const lines = changes.map((change) => {
    const { view, before, after } = change;
    const ranks = `${before?.rank ?? 'new'} -> ${after?.rank ?? 'out'}`;
    return [occurredAt, board, playerId, view, ranks, ...columnsText(change)].join('  ');
  });
  return lines.map((line) => `${line}\n`).join('');
}

function columnsText({ before, after }: Movement): string[] {
  return Object.entries(after?.columns ?? {}).map(([name, value]) => {
    const old = before?.columns[name];
    return old === undefined || old === value
      ? `${name} ${value}`
      : `${name} ${value} (was ${old})`;
  });
}

/** A line: time, board, view, who entered, moved and left, and the new top with its columns. */
export function leaderChangeLine(change: LeaderChange): string {
  const { occurredAt, board, view, entered, moved, left, top } = change;
  const parts = [
    occurredAt,
    board,
    view,
    ...entered.map(({ playerId, rank }) => `${playerId} new -> ${rank}`),
    ...moved.map(({ playerId, rankBefore, rankAfter }) => {
      return `${playerId} ${rankBefore} -> ${rankAfter}`;
    }),
    ...left.map(({ playerId, rankBefore }) => `${playerId} ${rankBefore} -> out`),
    `top: ${leadersText(top)}`,
  ];
  return `${parts.join('  ')}\n`;
}

/**
 * A line: end of the window, board, view, revision, how many players the view has, and the first of
 * them with their columns.
 */
export function periodResultLine(result: PeriodResult): string {
  const { end, board, view, revision, size, results } = result;
  const parts = [
    end,
    board,
    view,
    `revision ${revision}`,
    `players ${size}`,
    `first: ${leadersText(results)}`,
  ];
  return `${parts.join('  ')}\n`;
}

function leadersText(leaders: readonly Leader[]): string {
  const players = leaders.map(
    ({ playerId, columns }) => `${playerId} (${Object.values(columns).join(' ')})`,
  );
  return players.length === 0 ? 'nobody' : players.join(', ');
}
