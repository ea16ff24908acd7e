import { changeVoids, type VoidChange } from '#board';
import type { LiveBoard } from '#board-store';
import { logRanges } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { backfillOf, rangesToRead } from '../../reconciliation/boards/plan.js';
import { cutPartitions } from '../../reconciliation/runs/log-history.js';
import { HistoryCutError } from '../../reconciliation/runs/run-errors.js';
import { readScoreNames, type NameOptions } from '../input/score-names.js';
import { openKafka } from '../sessions/kafka-session.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { build, builtText } from '../sessions/run-build.js';
import { readVoided, searchScores } from '../sessions/score-search.js';
import { openRedis } from '../sessions/session.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { EXIT } from '../text/exit-codes.js';
import type { BuildOptions, JsonOption } from '../text/options.js';
import { print } from '../text/output.js';
import {
  alreadyText,
  checkVoidable,
  foundText,
  placesToChange,
  recordsOf,
  voidedText,
} from '../text/score-text.js';

type ChangeOptions = NameOptions &
  Omit<BuildOptions, 'from'> & { readonly yes?: boolean; readonly dryRun?: boolean };

export function voidScores(board: string, options: ChangeOptions): Promise<number> {
  return changeScores('void', board, options);
}

export function unvoidScores(board: string, options: ChangeOptions): Promise<number> {
  return changeScores('unvoid', board, options);
}

async function changeScores(
  kind: VoidChange['kind'],
  board: string,
  options: ChangeOptions,
): Promise<number> {
  const names = await readScoreNames(options);
  const { json = false, dryRun = false, yes = false, allowPartialHistory = false } = options;
  await using session = await openReconciliation();
  const live = await session.stores.reader.board(board);
  const facts = await readLogFacts(session, live);
  const found = await searchScores(session, live, { kind, names, ranges: rangesToRead(facts) });
  if (kind === 'void') checkVoidable(board, found, facts.ranges.size);

  const records = recordsOf(found);
  const change = { kind, places: placesToChange(kind, live.definition, found) };
  const isDone = change.places.length === 0;
  const backfill = backfillOf(facts, await session.stores.leases.statuses());
  const cut = cutPartitions(facts.ranges, live.starts);
  const plan = { board, ...change, records, cut, reads: isDone ? 0 : backfill.records };
  if (isDone || dryRun || !json)
    print(plan, options, () => (isDone ? alreadyText(kind, found) : foundText(plan, backfill)));
  if (isDone || dryRun) return EXIT.ok;

  if (cut.length > 0 && !allowPartialHistory) throw new HistoryCutError([board], cut, true);
  changeVoids(live.definition, change); // throws if there are too many
  using cancellation = interruption();
  const { signal } = cancellation;
  if (!yes)
    await confirmOnTerminal(`${kind} ${change.places.length} record(s) of ${board}?`, signal, {
      command: `scores ${kind}`,
      instead: '--dry-run to see what it would change',
    });

  const [built] = await build(session, { board, change }, { ...options, signal });
  print({ ...plan, ...built }, options, () => (built ? builtText(built) : ''));
  return EXIT.ok;
}

/** The ranges of the log, and where a build of the board begins in them. */
async function readLogFacts(
  { kafka, admin, topics, stores }: ReconciliationSession,
  { board, starts = new Map() }: LiveBoard,
) {
  await requireTopics(admin, [topics.scoreEvents]);
  const ranges = await logRanges(kafka, topics.scoreEvents);
  const appliedOffsets = await stores.generations.liveAppliedOffsets(board);
  return { ranges, appliedOffsets, begins: starts };
}

export async function listVoided(board: string, options: JsonOption): Promise<number> {
  await using kafka = await openKafka();
  using redis = await openRedis();
  const { definition } = await redis.stores.reader.board(board);
  await requireTopics(kafka.admin, [kafka.topics.scoreEvents]);
  const voids = await readVoided(kafka, definition);
  print({ board, count: voids.length, voids }, options, () => voids.map(voidedText).join('\n'));
  return EXIT.ok;
}
