import { randomUUID } from 'node:crypto';
import {
  LeaderChangeSubscriber,
  RankChangeSubscriber,
  type LeaderChange,
  type RankChange,
  type ResultSubscriber,
  type SubscriberOptions,
} from '#client';
import { requireTopics } from '../../infra/topics.js';
import { EXIT } from '../exit-codes.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';
import { leaderChangeLine, rankChangeLines } from '../result-lines.js';
import { withRedis } from '../session.js';

export interface WatchOptions {
  readonly leaders?: boolean;
  readonly fromBeginning?: boolean;
  readonly player?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

export async function watch(board: string | undefined, options: WatchOptions): Promise<number> {
  if (board !== undefined) await withRedis(({ reader }) => reader.board(board)); // it must exist
  return withKafka((session) =>
    options.leaders === true
      ? watchKind(session, LEADER_CHANGES, { ...options, board })
      : watchKind(session, RANK_CHANGES, { ...options, board }),
  );
}

interface Kind<T> {
  readonly topic: 'rankChanges' | 'leaderChanges';
  readonly Subscriber: new (options: SubscriberOptions) => ResultSubscriber<T>;
  readonly concerns: (result: T, playerId: string) => boolean;
  readonly describe: (result: T) => string;
}

const RANK_CHANGES: Kind<RankChange> = {
  topic: 'rankChanges',
  Subscriber: RankChangeSubscriber,
  concerns: ({ playerId }, player) => playerId === player,
  describe: rankChangeLines,
};

const LEADER_CHANGES: Kind<LeaderChange> = {
  topic: 'leaderChanges',
  Subscriber: LeaderChangeSubscriber,
  concerns: ({ entered, left, moved }, player) =>
    [...entered, ...left, ...moved].some(({ playerId }) => playerId === player),
  describe: leaderChangeLine,
};

type Selection = WatchOptions & { readonly board: string | undefined };

async function watchKind<T extends { readonly board: string }>(
  { settings, kafka, admin, topics }: KafkaSession,
  kind: Kind<T>,
  selection: Selection,
): Promise<number> {
  const topic = topics[kind.topic];
  await requireTopics(admin, [topic]);
  const groupId = `${settings.group}-watch-${randomUUID()}`;
  const { topicPrefix } = settings;
  const { fromBeginning = false, json = false } = selection;
  const errors = { policy: 'stop', retries: 0 } as const;
  const subscriber = new kind.Subscriber({ kafka, groupId, topicPrefix, fromBeginning, errors });
  try {
    await printAll(subscriber, kind, selection, () => {
      if (!json) process.stderr.write(`watching ${topic}; press Ctrl-C to end\n`);
    });
    return EXIT.ok;
  } finally {
    await subscriber.stop();
    await admin.deleteGroups([groupId]).catch(() => undefined); // otherwise, Kafka deletes the empty group after a week
  }
}

function printAll<T extends { readonly board: string }>(
  subscriber: ResultSubscriber<T>,
  { concerns, describe }: Kind<T>,
  { board, player, limit = Infinity, json = false }: Selection,
  onStarted: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
    let seen = 0;
    const handle = (result: T) => {
      const wanted =
        (board ?? result.board) === result.board &&
        (player === undefined || concerns(result, player));
      if (seen >= limit || !wanted) return;
      process.stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result));
      if (++seen >= limit) resolve();
    };
    subscriber.failed.catch(reject);
    subscriber.start(handle).then(onStarted, reject);
  });
}
