import { changeVoids, type VoidChange } from '#board';
import type { LiveBoard } from '#board-store';
import { logRanges } from '#kafka-batch';
import { claimIdentity } from '../../infra/identity.js';
import { requireTopics } from '../../infra/topics.js';
import { backfillOf, rangesToRead } from '../../reconciliation/boards/plan.js';
import type { BuildReport } from '../../reconciliation/runs/build.js';
import { readScoreNames, type NameOptions } from '../input/score-names.js';
import { withLease } from '../sessions/held-lease.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { readPlacesOf } from '../sessions/score-places.js';
import { searchScores } from '../sessions/score-search.js';
import { openRedis } from '../sessions/session.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { EXIT } from '../text/exit-codes.js';
import type { BuildOptions, JsonOption } from '../text/options.js';
import { print } from '../text/output.js';
import { ReconciliationBar } from '../text/progress-bar.js';
import { changedText, checkScores, foundText, recordsOf } from '../text/score-text.js';

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
  const { json = false, dryRun = false, yes = false } = options;
  await using session = await openReconciliation();
  const { reader } = session.stores;
  const live = await reader.board(board);
  const facts = await readLogFacts(session, live);
  const found = await searchScores(session, live, { names, ranges: rangesToRead(facts) });
  checkScores(kind, board, found);
  const records = recordsOf(found);
  const change = { kind, places: records };
  const logStarts = new Map([...facts.ranges].map(([id, { start }]) => [id, start]));
  changeVoids(live.definition, change, logStarts); // throws if there are too many
  const backfill = backfillOf(facts, await session.stores.leases.statuses());
  const plan = { board, kind, records, reads: backfill.records };
  if (!json) print(plan, options, () => foundText(plan, backfill));
  if (dryRun && json) print(plan, options, () => '');
  if (dryRun) return EXIT.ok;
  using cancellation = interruption();
  const { signal } = cancellation;
  if (!yes)
    await confirmOnTerminal(`${kind} these events of ${board}?`, signal, {
      command: `scores ${kind}`,
      instead: '--dry-run to see what it would change',
    });
  const before = await readPlacesOf(reader, board, records);
  const built = await build(session, board, { ...options, change, signal });
  const after = await readPlacesOf(reader, board, records);
  const places = before?.map((one, index) => ({ ...one, after: after?.[index]?.place ?? null }));
  const { generation } = built;
  const changed = { ...plan, generation, places: places ?? null };
  print(changed, options, changedText);
  return EXIT.ok;
}

/** The offsets that a build of the board reads. */
async function readLogFacts(
  { kafka, admin, topics, stores }: ReconciliationSession,
  { board, starts = new Map() }: LiveBoard,
) {
  await requireTopics(admin, [topics.scoreEvents]);
  const ranges = await logRanges(kafka, topics.scoreEvents);
  const appliedOffsets = await stores.generations.liveAppliedOffsets(board);
  return { ranges, appliedOffsets, begins: starts };
}

interface ToBuild extends Pick<ChangeOptions, 'throttle' | 'allowPartialHistory'> {
  readonly change: VoidChange;
  readonly signal: AbortSignal;
}

/** A function of its own, so that the bar is removed before the command prints. */
async function build(
  { reconciler, stores, definitions }: ReconciliationSession,
  board: string,
  { throttle, allowPartialHistory, change, signal }: ToBuild,
): Promise<BuildReport> {
  await claimIdentity(stores.store, definitions);
  using bar = new ReconciliationBar();
  const limits = { eventsPerSecond: throttle, allowPartialHistory };
  const options = { ...limits, change, signal, onProgress: bar.onProgress };
  return await withLease(() => reconciler.changeVoids(board, options), signal);
}

export async function listVoided(board: string, options: JsonOption): Promise<number> {
  using redis = await openRedis();
  const { definition } = await redis.stores.reader.board(board);
  const voids = definition.voids ?? [];
  print({ board, count: voids.length, voids }, options, () =>
    voids.map(({ partition, offset }) => `${partition}/${offset}`).join('\n'),
  );
  return EXIT.ok;
}
