import { filter, from, fromEvent, merge, mergeMap, takeUntil, throwError } from 'rxjs';
import { formatTime } from '#board';
import type { Standings } from '#board-store';
import { requireTopics } from '../../infra/topics.js';
import { ChangeFeed } from '../../query/live/change-feed.js';
import { readings } from '../../query/live/view-feed.js';
import { withTime } from '../text/board-times.js';
import { EXIT } from '../text/exit-codes.js';
import type { ReadOptions } from '../text/options.js';
import { standingsText } from '../text/output.js';
import { openKafka } from './kafka-session.js';
import { openRedis } from './session.js';

type LiveOptions = ReadOptions & { readonly top: number };
type LiveRead = Omit<LiveOptions, 'at'> & { readonly at?: number };

/** The lines of a terminal that are not players: name, empty line, head, time, cursor. */
const OTHER_LINES = 5;
const CLEAR = '\u001b[H\u001b[J';

/** Shows the top of a view, then again after each committed change, until Ctrl-C or SIGTERM. */
export async function liveStandings(board: string, options: LiveOptions): Promise<number> {
  await using session = await openKafka();
  using redis = await openRedis();
  const { kafka, admin, topics, logger } = session;
  const { reader } = redis.stores;
  const topic = topics.rankChanges;
  await requireTopics(admin, [topic]);
  const closed = new AbortController();
  const { signal } = closed;
  const changes = await ChangeFeed.open({ kafka, topic, signal, logger });
  try {
    const request = requestOf(board, await withTime(reader, board, options));
    await showAll(readings(request, { reader, changes }), changes.ended);
    return EXIT.ok;
  } finally {
    closed.abort(new Error('the command ends'));
  }
}

/** Asks for the top players, but for no more than fit on the terminal. */
function requestOf(board: string, { top, view, window, where, at }: LiveRead) {
  const { isTTY, rows } = process.stdout;
  const limit = isTTY ? Math.min(top, Math.max(1, rows - OTHER_LINES)) : top;
  return { board, limit, view, window, where, at };
}

/** @throws the error that ends the readings or the feed of changes */
function showAll(tops: ReturnType<typeof readings>, feedEnded: Promise<Error>): Promise<void> {
  const failed = from(feedEnded).pipe(mergeMap((error) => throwError(() => error)));
  const stop = merge(fromEvent(process, 'SIGINT'), fromEvent(process, 'SIGTERM'));
  return merge(tops, failed)
    .pipe(
      filter(({ isChanged }) => isChanged),
      takeUntil(stop),
    )
    .forEach(({ data }) => show(JSON.parse(data) as Standings));
}

/** Replaces the table on a terminal; elsewhere, prints it after the previous one. */
function show(standings: Standings): void {
  const warning = standings.stale ? '; stale: Redis may lack events, ranks may be wrong' : '';
  const foot = `${standings.size} players at ${formatTime(Date.now())}${warning}`;
  const text = `${standingsText(standings)}\n${foot}\n`;
  process.stdout.write(process.stdout.isTTY ? CLEAR + text : `${text}\n`);
}
