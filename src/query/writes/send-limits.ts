import { firstValueFrom, from, throwError, timeout } from 'rxjs';
import type { ScoreProducer } from '#client';
import { ProblemError } from '#problems';

const SEND_TIMEOUT_MS = 30_000;

/**
 * Records that wait for Kafka at once, also after their requests were answered; more are refused,
 * as each takes memory.
 */
const MOST_IN_FLIGHT = 10_000;

/** @throws ProblemError OVERLOADED if so many records more would pass the limit */
export function requireRoom({ inFlight }: Pick<ScoreProducer, 'inFlight'>, records: number): void {
  if (inFlight + records > MOST_IN_FLIGHT)
    throw new ProblemError(
      'OVERLOADED',
      `${inFlight} records wait for Kafka, of at most ${MOST_IN_FLIGHT}; nothing was sent; try ` +
        'again',
    );
}

/** @throws SendError, or ProblemError SEND_FAILED after the timeout; the producer goes on then */
export function acknowledged<T>(sent: Promise<T>, timeoutMs = SEND_TIMEOUT_MS): Promise<T> {
  const late = () => {
    const detail =
      `Kafka has not acknowledged all records within ${timeoutMs} ms; it may have any of them, ` +
      'or get them later';
    return throwError(() => new ProblemError('SEND_FAILED', detail));
  };
  return firstValueFrom(from(sent).pipe(timeout({ first: timeoutMs, with: late })));
}
