import { createReadStream } from 'node:fs';
import type { Message } from 'kafkajs';
import { canClose, resolveEvent, type BoardDefinition } from '#board';
import { IdentityCheck } from '#board-store';
import { InvalidScoreEventError, ScoreProducer } from '#client';
import { decodeText } from '#contracts';
import { toError } from '#errors';
import { partitionCount } from '#kafka-batch';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';
import { Throttle } from '../../infra/throttle.js';
import { maxMessageBytes, requireTopics } from '../../infra/topics.js';
import { NOT_UTF8, readLines, sizeOf, type Line } from '../input/lines.js';
import { openKafka, whenClosed, type KafkaSession } from '../sessions/kafka-session.js';
import { isPartlyLate } from '../text/board-times.js';
import { EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print } from '../text/output.js';
import { ProgressBar } from '../text/progress-bar.js';

type ProduceOptions = JsonOption & { readonly rate?: number };

const MAX_EVENTS_PER_SEND = 1_000;
const MAX_BYTES_PER_SEND = 512 * 1_024;

/** Bytes for the key, the headers and the framing of a record. */
const RECORD_OVERHEAD = 1_024;

/** Sends per second with a --rate from 20 to 20,000, so that events are spread evenly. */
const PACED_SENDS = 20;

export async function produce(file: string, options: ProduceOptions): Promise<number> {
  await using session = await openKafka();
  const { settings, kafka, admin, topics } = session;
  const size = sizeOf(file);
  await requireTopics(admin, [topics.scoreEvents]);
  const largest = (await maxMessageBytes(admin, topics.scoreEvents)) - RECORD_OVERHEAD;
  const limits = { largest, closing: await readClosingDefinitions(session) };
  const { topicPrefix } = settings;
  const producer = new ScoreProducer({ kafka, topicPrefix, source: '/ranklog/produce' });
  await producer.connect();
  try {
    const summary = await sendFile(producer, file, { size, rate: options.rate, limits });
    print(summary, options, summaryText);
    return summary.rejected === 0 ? EXIT.ok : EXIT.no;
  } finally {
    await whenClosed(producer.disconnect(), session.logger);
  }
}

/** Reasons to reject a line although its form is right. */
interface Limits {
  /** In bytes. */
  readonly largest: number;
  readonly closing: ReadonlyMap<string, BoardDefinition>;
}

/**
 * The live definitions of boards with windows that close, as the definitions topic has them. Leaves
 * out boards whose newest definition can't be read. If the topic can't be read, logs that and
 * returns an empty map: the user may have no right to read it.
 */
async function readClosingDefinitions(
  session: KafkaSession,
): Promise<Map<string, BoardDefinition>> {
  const { kafka, topics, logger } = session;
  const found = new Map<string, BoardDefinition>();
  try {
    if ((await partitionCount(kafka, topics.definitions)) === 0) return found;
    const log = new DefinitionsTopic(session, new IdentityCheck({}), logger);
    for (const [board, { definition }] of await log.readAll())
      if (definition !== null && canClose(definition) && !log.unreadable.has(board))
        found.set(board, definition);
  } catch (error) {
    logger.warn(
      `events are not checked for closed windows: ${topics.definitions} can't be read: ` +
        toError(error).message,
      { error },
    );
  }
  return found;
}

async function sendFile(
  producer: ScoreProducer,
  file: string,
  { size, rate, limits }: { size: number; rate: number | undefined; limits: Limits },
) {
  const begin = performance.now();
  const throttle = new Throttle(rate);
  const source = file === '-' ? process.stdin : createReadStream(file);
  using bar = new ProgressBar('events sent', size);
  const most = Math.min(MAX_EVENTS_PER_SEND, Math.ceil((rate ?? Infinity) / PACED_SENDS));
  let messages: Message[] = [];
  let bytes = 0;
  const counts = { sent: 0, rejected: 0, partlyLate: 0 };

  const send = async () => {
    await throttle.next(messages.length);
    await producer.sendMessages(messages);
    counts.sent += messages.length;
    messages = [];
    bytes = 0;
    // The number of events of the file is not known: it is estimated by the bytes that are read.
    bar.update(counts.sent, { total: Math.round((counts.sent * size) / source.bytesRead) });
  };

  for await (const line of readLines(source)) {
    const checked = checkLine(producer, line, limits);
    if (checked instanceof InvalidScoreEventError) {
      counts.rejected += 1;
      process.stderr.write(`${file}:${line.number}: ${checked.message}\n`);
    } else if (checked !== undefined) {
      messages.push(checked.message);
      if (checked.isPartlyLate) counts.partlyLate += 1;
    }
    bytes += line.bytes;
    if (messages.length >= most || bytes >= MAX_BYTES_PER_SEND) await send();
  }
  await send();
  const seconds = Math.round(performance.now() - begin) / 1_000;
  return { ...counts, seconds };
}

interface CheckedMessage {
  readonly message: Message;
  /** Whether some windows of the event have closed, and others have not. */
  readonly isPartlyLate: boolean;
}

/** The message of a line, or the error that rejects it; undefined for a blank line. */
function checkLine(
  producer: ScoreProducer,
  line: Line,
  limits: Limits,
): CheckedMessage | InvalidScoreEventError | undefined {
  try {
    return messageOf(producer, line, limits);
  } catch (error) {
    if (error instanceof InvalidScoreEventError) return error;
    throw error;
  }
}

/** @throws InvalidScoreEventError */
function messageOf(
  producer: ScoreProducer,
  { text, bytes }: Line,
  { largest, closing }: Limits,
): CheckedMessage | undefined {
  if (text?.trim() === '') return undefined;
  if (text === undefined) throw new InvalidScoreEventError('NOT_UTF8', NOT_UTF8);
  if (bytes > largest)
    throw new InvalidScoreEventError(
      'TOO_LARGE',
      `the line has ${bytes} bytes; the score topic accepts ${largest}`,
    );
  const message = producer.toMessage(text);
  return { message, isPartlyLate: closing.size > 0 && isLineLate(text, closing) };
}

/**
 * Whether some windows of an event have closed by now.
 * @throws InvalidScoreEventError if all have
 */
function isLineLate(text: string, closing: Limits['closing']): boolean {
  const decoded = decodeText(text);
  const definition = decoded.ok ? closing.get(decoded.event.board) : undefined;
  if (!decoded.ok || definition === undefined) return false;
  const now = Date.now();
  const resolved = resolveEvent(definition, decoded.event, now);
  if (!resolved.ok && resolved.code === 'WINDOW_CLOSED')
    throw new InvalidScoreEventError(resolved.code, resolved.detail);
  return resolved.ok && isPartlyLate(definition, resolved.event, now);
}

function summaryText(summary: Awaited<ReturnType<typeof sendFile>>): string {
  const { sent, rejected, partlyLate, seconds } = summary;
  const rate = Math.round(sent / Math.max(seconds, 0.001));
  const bad = rejected === 0 ? '' : `, ${rejected} bad lines skipped`;
  const late =
    partlyLate === 0
      ? ''
      : `, ${partlyLate} too late for a closed window: counted in other windows only`;
  return `${sent} events sent in ${seconds} s (${rate}/s)${bad}${late}`;
}
