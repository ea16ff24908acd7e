import pLimit from 'p-limit';
import type { BoardReader } from '#board-store';

/** For how many events places are read at once, each in all views of the event. */
const MOST_AT_ONCE = 100;

/** How long a read waits for its turn: after a second, `sendAndWait` answers without the places. */
const MOST_WAIT_MS = 500;

type Reader = Pick<BoardReader, 'placesOfEvent' | 'board'>;

/**
 * Limits how many places are read at once. Up to 10,000 events wait for their places, and Redis
 * would get all these reads together.
 */
export function fewAtOnce(reader: Reader): Reader {
  const limit = pLimit(MOST_AT_ONCE);
  return {
    board: (board) => reader.board(board),
    placesOfEvent: (event, time) => {
      const queuedAt = performance.now();
      return limit(() => {
        if (performance.now() - queuedAt > MOST_WAIT_MS)
          throw new Error('the places of too many events are being read');
        return reader.placesOfEvent(event, time);
      });
    },
  };
}
