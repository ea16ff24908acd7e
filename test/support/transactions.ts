import type { Kafka } from 'kafkajs';

/**
 * Waits until the last transactions of some transactional ids are in the log with their ends. Kafka tells of a commit
 * before it has written the markers, so who reads at once may miss it; it starts the next producer of the id only
 * behind them. Whoever had an id is fenced.
 */
export async function transactionsEnded(
  kafka: Kafka,
  ...transactionalIds: readonly string[]
): Promise<void> {
  for (const transactionalId of transactionalIds) {
    const producer = kafka.producer({
      transactionalId,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20, retries: 20 },
    });
    await producer.connect();
    const next = await producer.transaction();
    await next.abort(); // with nothing in it: kafkajs does not tell Kafka
    await producer.disconnect();
  }
}
