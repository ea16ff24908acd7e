import type { Role } from '../../config/roles.js';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';
import { readIdentity, withGroup } from '../../infra/identity.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { SILENT } from '../../infra/logger.js';
import { createRedis } from '../../infra/redis.js';
import {
  find,
  KAFKA_CHECKS,
  REDIS_CHECKS,
  type Checks,
  type Subject,
} from '../../infra/server-checks.js';
import { waitForServices } from '../../infra/services.js';
import { Stores } from '../../infra/stores.js';
import { checkScoreTopic, requiredTopics, requireTopics } from '../../infra/topics.js';
import { requiredTokens } from '../../query/http/required-tokens.js';
import { readPositions, readPublished } from '../../query/status/read-status.js';
import { countMisplaced, misplacedText } from '../../query/status/sampled-records.js';
import { announcementProblems } from '../../reconciliation/boards/announcement-problems.js';
import { readBoardsFile } from '../../reconciliation/boards/read-boards-file.js';
import { openSession } from '../sessions/session.js';
import { EXIT } from '../text/exit-codes.js';
import { exitCodeOf } from '../text/failures.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

const MAX_WAIT_MS = 5_000;

const CONNECTIONS: Checks = {
  'Redis connection': ({ settings, redis }) => waitForServices(settings, { redis }, SILENT),
  'Kafka connection': ({ settings }) => waitForServices(settings, { kafka: true }, SILENT),
};

const CONTENTS: Checks = {
  Topics: async ({ settings, connection }) => {
    const { admin, topics } = connection;
    await requireTopics(admin, requiredTopics(topics));
    const warnings = await checkScoreTopic(admin, topics.scoreEvents, settings);
    warnings.push(misplacedText(await countMisplaced(connection)));
    return warnings.filter(Boolean).join('; ') || undefined;
  },
  'Score log': async ({ settings, redis, connection }) => {
    await passOverSkipped(connection);
    const { status } = new Stores(redis, settings);
    const published = await readPublished(connection, settings.group, status);
    const positions = await readPositions(connection, published);
    const stopped = positions.flatMap((position) => position.stopped ?? []);
    return stopped.length > 0 ? stopped.join('; ') : undefined;
  },
  Identity: async (subject) => {
    const { identity } = await readDefinitions(subject);
    const { store } = new Stores(subject.redis, subject.settings, { identity });
    await store.check();
  },
  Definitions: async (subject) => {
    const { unreadable } = await readDefinitions(subject);
    const problems = [...unreadable.values()].map(
      ({ board, problem }) => `board "${board}": ${problem}`,
    );
    return problems.length > 0 ? problems.join('; ') : undefined;
  },
};

/** Checks of the role reconciliation that need Redis, Kafka and the boards file. */
const ANNOUNCEMENTS: Checks = {
  'Closing windows': async ({ settings, redis, connection }) => {
    const { status } = new Stores(redis, settings);
    const problems = await announcementProblems({ settings, connection }, status);
    return problems.join('; ') || undefined;
  },
};

/** @throws OtherIdentityError */
async function readDefinitions({ settings, redis, connection }: Subject) {
  const identity = await readIdentity(redis, connection, settings);
  const definitions = new DefinitionsTopic(connection, identity, SILENT);
  await definitions.readAll();
  return definitions;
}

const OF_ROLES: Readonly<Record<Role, Checks>> = {
  ingest: {},
  reconciliation: { 'Boards file': ({ settings }) => readBoardsFile(settings.boards) },
  query: { 'HTTP tokens': ({ settings }) => requiredTokens(settings, SILENT) },
};

/**
 * Makes all checks. Leaves out the checks of a server that does not answer, and the checks that
 * need a boards file if it can't be read. Changes nothing.
 */
export async function doctor(options: JsonOption & { roles: readonly Role[] }): Promise<number> {
  const { settings: own } = openSession();
  const settings = { ...own, startTimeout: Math.min(own.startTimeout, MAX_WAIT_MS) };
  const redis = createRedis(settings, SILENT);
  const connection = new KafkaConnection(settings, SILENT);
  const subject = { settings, roles: options.roles, redis, connection };
  try {
    const answers = await find(CONNECTIONS, subject, outcomeOf);
    const [hasRedis, hasKafka] = answers.map(({ outcome }) => outcome === 'ok');
    if (hasKafka) await connection.admin.connect();

    const hasBoth = hasRedis && hasKafka;
    const identity = hasBoth ? readIdentity(redis, connection, settings) : undefined;
    const checked = { ...subject, settings: await withGroup(settings, identity) };
    const needsWindows = hasBoth && options.roles.includes('reconciliation');
    const more = {
      ...(hasRedis && REDIS_CHECKS),
      ...(hasKafka && KAFKA_CHECKS),
      ...(hasBoth && CONTENTS),
      ...(needsWindows && (await isReadable(settings.boards)) && ANNOUNCEMENTS),
      ...Object.fromEntries(options.roles.flatMap((role) => Object.entries(OF_ROLES[role]))),
    };
    const findings = [...answers, ...(await find(more, checked, outcomeOf))];

    const rows = findings.map(({ check, outcome, text }) => [check, outcome, text]);
    print(findings, options, () => table(['check', 'outcome', 'what to do'], rows));
    if (findings.some(({ outcome }) => outcome === 'refused')) return EXIT.usage;
    return findings.some(({ outcome }) => outcome === 'unreachable') ? EXIT.unreachable : EXIT.ok;
  } finally {
    await connection.admin.disconnect();
    redis.disconnect();
  }
}

async function isReadable(boardsFile: string): Promise<boolean> {
  try {
    await readBoardsFile(boardsFile);
    return true;
  } catch {
    return false; // the check of the boards file reports the problem
  }
}

function outcomeOf(error: unknown) {
  const code = exitCodeOf(error);
  if (code === EXIT.unreachable) return 'unreachable';
  return code === EXIT.usage ? 'refused' : 'warning';
}
