import { randomUUID } from 'node:crypto';
import {
  LeaderChangeSubscriber,
  RankChangeSubscriber,
  type LeaderChange,
  type RankChange,
} from '#client';
import { requireTopics } from '../../infra/topics.js';
import { openKafka, whenClosed, type KafkaSession } from '../sessions/kafka-session.js';
import { openRedis } from '../sessions/session.js';
import { EXIT } from '../text/exit-codes.js';
import { leaderChangeLine, rankChangeLines } from '../text/result-lines.js';

export interface WatchOptions {
  readonly leaders?: boolean;
  readonly fromBeginning?: boolean;
  readonly player?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

export async function watch(board: string | undefined, options: WatchOptions): Promise<number> {
  if (board !== undefined) await requireBoard(board);
  await using kafka = await openKafka();
  return await watchTopic(kafka, { ...options, board });
}

/** @throws UnknownBoardError */
async function requireBoard(board: string): Promise<void> {
  using redis = await openRedis();
  await redis.stores.reader.board(board);
}

type Selection = WatchOptions & { readonly board: string | undefined };
type Change = RankChange | LeaderChange;

async function watchTopic(
  { settings, logger, kafka, admin, topics }: KafkaSession,
  selection: Selection,
): Promise<number> {
  const { leaders = false, fromBeginning = false, json = false } = selection;
  const topic = leaders ? topics.leaderChanges : topics.rankChanges;
  await requireTopics(admin, [topic]);
  const groupId = `${settings.topicPrefix}-watch-${randomUUID()}`;
  const { topicPrefix } = settings;
  const errors = { policy: 'stop', retries: 0 } as const;
  const Subscriber = leaders ? LeaderChangeSubscriber : RankChangeSubscriber;
  const subscriber = new Subscriber({ kafka, groupId, topicPrefix, fromBeginning, errors });
  try {
    await printAll(subscriber, selection, () => {
      if (!json) process.stderr.write(`watching ${topic}; press Ctrl-C to end\n`);
    });
    return EXIT.ok;
  } finally {
    await whenClosed(subscriber.stop(), logger);
    await admin.deleteGroups([groupId]).catch(() => undefined); // otherwise, Kafka deletes the empty group after a week
  }
}

function printAll(
  subscriber: RankChangeSubscriber | LeaderChangeSubscriber,
  { board, player, limit = Infinity, json = false }: Selection,
  onStarted: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
    let seen = 0;
    const handle = (change: Change) => {
      const wanted =
        (board ?? change.board) === change.board &&
        (player === undefined || concerns(change, player));
      if (seen >= limit || !wanted) return;
      process.stdout.write(json ? `${JSON.stringify(change)}\n` : textOf(change));
      if (++seen >= limit) resolve();
    };
    subscriber.failed.catch(reject);
    subscriber.start(handle).then(onStarted, reject);
  });
}

function concerns(change: Change, player: string): boolean {
  if ('playerId' in change) return change.playerId === player;
  const { entered, left, moved } = change;
  return [...entered, ...left, ...moved].some(({ playerId }) => playerId === player);
}

function textOf(change: Change): string {
  return 'playerId' in change ? rankChangeLines(change) : leaderChangeLine(change);
}
