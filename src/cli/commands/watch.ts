import { randomUUID } from 'node:crypto';
import {
  LeaderChangeSubscriber,
  PeriodResultSubscriber,
  RankChangeSubscriber,
  type LeaderChange,
  type PeriodResult,
  type RankChange,
} from '#client';
import { requireTopics } from '../../infra/topics.js';
import { openKafka, whenClosed, type KafkaSession } from '../sessions/kafka-session.js';
import { openRedis } from '../sessions/session.js';
import { EXIT } from '../text/exit-codes.js';
import { leaderChangeLine, periodResultLine, rankChangeLines } from '../text/result-lines.js';

interface WatchOptions {
  readonly leaders?: boolean;
  readonly fromBeginning?: boolean;
  readonly player?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

export function watch(board: string | undefined, options: WatchOptions): Promise<number> {
  return watchResults(options.leaders ? 'leaderChanges' : 'rankChanges', { ...options, board });
}

/** `ranklog periods watch` */
export function watchPeriods(board: string | undefined, options: WatchOptions): Promise<number> {
  return watchResults('periodResults', { ...options, board });
}

const SUBSCRIBERS = {
  rankChanges: RankChangeSubscriber,
  leaderChanges: LeaderChangeSubscriber,
  periodResults: PeriodResultSubscriber,
};
type Kind = keyof typeof SUBSCRIBERS;
type Subscriber = InstanceType<(typeof SUBSCRIBERS)[Kind]>;

async function watchResults(kind: Kind, selection: Selection): Promise<number> {
  if (selection.board !== undefined) await requireBoard(selection.board);
  await using kafka = await openKafka();
  return await watchTopic(kafka, kind, selection);
}

/** @throws UnknownBoardError */
async function requireBoard(board: string): Promise<void> {
  using redis = await openRedis();
  await redis.stores.reader.board(board);
}

type Selection = WatchOptions & { readonly board: string | undefined };
type Result = RankChange | LeaderChange | PeriodResult;

async function watchTopic(
  { settings, logger, kafka, admin, topics }: KafkaSession,
  kind: Kind,
  selection: Selection,
): Promise<number> {
  const { fromBeginning = false, json = false } = selection;
  const topic = topics[kind];
  await requireTopics(admin, [topic]);
  const groupId = `${settings.topicPrefix}-watch-${randomUUID()}`;
  const { topicPrefix } = settings;
  const errors = { policy: 'stop', retries: 0 } as const;
  const subscriber = new SUBSCRIBERS[kind]({ kafka, groupId, topicPrefix, fromBeginning, errors });
  try {
    await printAll(subscriber, selection, () => {
      if (!json) process.stderr.write(`watching ${topic}; press Ctrl-C to end\n`);
    });
    return EXIT.ok;
  } finally {
    await whenClosed(subscriber.stop(), logger);
    // Otherwise, Kafka deletes the empty group after a week
    await admin.deleteGroups([groupId]).catch(() => undefined);
  }
}

function printAll(
  subscriber: Subscriber,
  { board, player, limit = Infinity, json = false }: Selection,
  onStarted: () => void,
): Promise<void> {
  const isWanted = (result: Result): boolean => {
    if (board !== undefined && board !== result.board) return false;
    return player === undefined || concerns(result, player);
  };

  return new Promise((resolve, reject) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
    let printed = 0;
    const handle = (result: Result) => {
      if (printed >= limit || !isWanted(result)) return;
      process.stdout.write(json ? `${JSON.stringify(result)}\n` : textOf(result));
      printed += 1;
      if (printed >= limit) resolve();
    };
    subscriber.failed.catch(reject);
    subscriber.start(handle).then(onStarted, reject);
  });
}

function concerns(result: Result, player: string): boolean {
  if ('playerId' in result) return result.playerId === player;
  const players =
    'results' in result ? result.results : [result.entered, result.left, result.moved].flat();
  return players.some(({ playerId }) => playerId === player);
}

function textOf(result: Result): string {
  if ('playerId' in result) return rankChangeLines(result);
  return 'results' in result ? periodResultLine(result) : leaderChangeLine(result);
}
