import type { Standings } from '#board-store';
import { requireTopics } from '../infra/topics.js';
import { ChangeFeed } from '../live/change-feed.js';
import { readings } from '../live/view-feed.js';
import { EXIT } from './exit-codes.js';
import { withKafka } from './kafka-session.js';
import { LiveScreen } from './live-screen.js';
import { withRedis } from './session.js';
import { standingsJson } from './standings-text.js';
import type { ReadOptions } from './usage/options.js';

type LiveOptions = ReadOptions & { readonly top: number };

/** Shows the top of a view, and again after each committed change, until Ctrl-C. */
export function liveStandings(board: string, options: LiveOptions): Promise<number> {
  return withKafka(({ kafka, admin, topics }) =>
    withRedis(async ({ reader, logger }) => {
      const topic = topics.rankChanges;
      await requireTopics(admin, [topic]);
      const closed = new AbortController();
      const { signal } = closed;
      const changes = await ChangeFeed.open({ kafka, topic, signal, logger });
      try {
        await showAll({ reader, changes }, board, options);
        return EXIT.ok;
      } finally {
        closed.abort(new Error('the command ends'));
      }
    }),
  );
}

/** Resolves at Ctrl-C or SIGTERM. @throws what ends the reading */
async function showAll(
  sources: Parameters<typeof readings>[1] & { readonly changes: ChangeFeed },
  board: string,
  { top, view, window, where, at, json = false }: LiveOptions,
): Promise<void> {
  const tops = readings({ board, limit: top, view, window, where, at }, sources);
  let screen: LiveScreen | undefined;
  let stop = () => {};
  try {
    await new Promise<unknown>((resolve, reject) => {
      process.once('SIGINT', resolve).once('SIGTERM', resolve);
      void sources.changes.ended.then(reject);
      const next = ({ data, isChanged }: { data: string; isChanged: boolean }) => {
        const standings = JSON.parse(data) as Standings;
        if (!json) (screen ??= new LiveScreen()).show(standings, isChanged, Date.now());
        else if (isChanged) process.stdout.write(`${JSON.stringify(standingsJson(standings))}\n`);
      };
      const shown = tops.subscribe({ next, error: reject });
      stop = () => shown.unsubscribe();
    });
  } finally {
    stop();
    screen?.close();
  }
}
