/** A record as kafkajs decodes it, with what says whether it is committed. */
export interface FetchedMessage {
  readonly offset: string;
  isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string };
}

/** What a broker answers for one partition; kafkajs decodes each offset and id to a decimal string. */
export interface FetchedPartition<Message extends FetchedMessage> {
  readonly messages: Message[];
  /** Those that overlap with the messages, in no particular order; null or missing for none. */
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
}

export interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

/** The data records of a fetch that belong to no aborted transaction. Linear in the messages. */
export function committedMessages<Message extends FetchedMessage>(
  fetched: FetchedPartition<Message>,
): Message[] {
  const aborted = abortedMessages(fetched);
  return fetched.messages.filter((message) => !message.isControlRecord && !aborted.has(message));
}

/**
 * The data records of a fetch that belong to aborted transactions: a producer's from the first offset of its aborted
 * transaction to its next control record, however many others write between them. What marks the end is the kind of
 * the record, not its key, which a user's record may have too.
 */
export function abortedMessages<Message extends FetchedMessage>({
  messages,
  abortedTransactions,
}: FetchedPartition<Message>): ReadonlySet<Message> {
  const aborted = new Set<Message>();
  if ((abortedTransactions ?? []).length === 0) return aborted;
  const ahead = [...(abortedTransactions ?? [])].sort(
    (one, other) => Number(other.firstOffset) - Number(one.firstOffset),
  );
  const open = new Set<string>();
  let next = ahead.pop();
  for (const message of messages) {
    for (; next !== undefined && begins(next, message); next = ahead.pop())
      open.add(next.producerId);
    const { producerId } = message.batchContext;
    if (message.isControlRecord) open.delete(producerId);
    else if (open.has(producerId)) aborted.add(message);
  }
  return aborted;
}

function begins({ firstOffset }: AbortedTransaction, { offset }: FetchedMessage): boolean {
  return Number(firstOffset) <= Number(offset);
}
