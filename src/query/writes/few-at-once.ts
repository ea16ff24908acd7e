import pLimit from 'p-limit';
import type { BoardReader } from '#board-store';

/**
 * How many events have their places read at once. Each may read as many views as its board has for
 * it.
 */
const MOST_AT_ONCE = 100;

/**
 * How long a read waits for its turn: `sendAndWait` answers without the places after a second, and
 * the read takes its time.
 */
const MOST_WAIT_MS = 500;

type Reader = Pick<BoardReader, 'placesOfEvent' | 'board'>;

/**
 * Limits how many places are read at once: up to 10,000 events wait for them, and Redis would get
 * all their reads together.
 */
export function fewAtOnce(reader: Reader): Reader {
  const limit = pLimit(MOST_AT_ONCE);
  return {
    board: (board) => reader.board(board),
    placesOfEvent: (event, time) => {
      const askedAt = performance.now();
      return limit(() => {
        if (performance.now() - askedAt > MOST_WAIT_MS)
          throw new Error('the places of too many events are being read');
        return reader.placesOfEvent(event, time);
      });
    },
  };
}
