import type { LeaderChange } from '#client';

/** One line: when, which view, who entered, left and moved, and the new top with its columns. */
export function describeLeaders(change: LeaderChange): string {
  const { occurredAt, board, view } = change;
  return `${[occurredAt, board, view, ...movements(change), top(change)].join('  ')}\n`;
}

/** `ada new -> 2`, `bob 2 -> 3`, `cyd 3 -> out`. */
function movements({ entered, moved, left }: LeaderChange): string[] {
  return [
    ...entered.map(({ playerId, rank }) => `${playerId} new -> ${rank}`),
    ...moved.map(({ playerId, rankBefore, rankAfter }) => {
      return `${playerId} ${rankBefore} -> ${rankAfter}`;
    }),
    ...left.map(({ playerId, rankBefore }) => `${playerId} ${rankBefore} -> out`),
  ];
}

function top({ top: leaders }: LeaderChange): string {
  const players = leaders.map(({ playerId, columns }) => {
    return `${playerId} (${Object.values(columns).join(' ')})`;
  });
  return `top: ${players.length === 0 ? 'nobody' : players.join(', ')}`;
}
