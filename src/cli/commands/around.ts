import { EXIT, readCode } from '../exit-codes.js';
import { print } from '../output.js';
import { withRedis } from '../session.js';
import { standingsJson, standingsText } from '../standings-text.js';
import type { ReadOptions } from '../usage/options.js';

type AroundOptions = ReadOptions & { readonly above: number; readonly below: number };

export function around(board: string, player: string, options: AroundOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const found = await reader.around(board, player, options);
    const { view, size, stale, entries } = found;
    const isRanked = entries.length > 0;
    print({ playerId: player, ...standingsJson(found) }, options, () =>
      isRanked
        ? standingsText(found, player)
        : `${player} is not ranked on ${board} in "${view}" (${size} players)`,
    );
    return readCode(stale, isRanked ? EXIT.ok : EXIT.no);
  }, options.generation);
}
