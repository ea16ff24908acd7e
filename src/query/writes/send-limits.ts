import { firstValueFrom, from, throwError, timeout } from 'rxjs';
import type { ScoreProducer } from '#client';
import { ProblemError } from '#problems';

const SEND_TIMEOUT_MS = 30_000;

/**
 * The most records that wait for Kafka, also after their requests were answered. More are refused,
 * as each takes memory.
 */
const MOST_IN_FLIGHT = 10_000;

/**
 * Refuses more records than the limit allows.
 * @throws ProblemError OVERLOADED
 */
export function requireRoom({ inFlight }: Pick<ScoreProducer, 'inFlight'>, records: number): void {
  if (inFlight + records > MOST_IN_FLIGHT)
    throw new ProblemError(
      'OVERLOADED',
      `${inFlight} records wait for Kafka, of at most ${MOST_IN_FLIGHT}; nothing was sent; try ` +
        'again',
    );
}

/**
 * Waits until Kafka has the records. After the timeout, the producer continues to send them.
 * @throws SendError, or ProblemError SEND_FAILED after the timeout
 */
export function acknowledged<T>(sent: Promise<T>, timeoutMs = SEND_TIMEOUT_MS): Promise<T> {
  const late = () => {
    const detail =
      `Kafka has not acknowledged all records within ${timeoutMs} ms; it may have any of them, ` +
      'or get them later';
    return throwError(() => new ProblemError('SEND_FAILED', detail));
  };
  return firstValueFrom(from(sent).pipe(timeout({ first: timeoutMs, with: late })));
}
