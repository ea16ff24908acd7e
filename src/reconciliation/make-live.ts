import type { Shadow } from '#board-store';
import { ShadowLostError } from './errors.js';
import { patiently } from './patiently.js';
import type { ReconcilerParts } from './reconciler-parts.js';
import type { FlipReport } from './reports.js';
import type { ShadowAtWork } from './shadow-tasks.js';

/**
 * Makes a shadow live as soon as it is at the live watermarks, and writes down that its definition is in force.
 * The flip stands also when that can't be written: the role reconciliation makes up for it.
 */
export async function makeLive(
  parts: ReconcilerParts,
  { lease, shadow, catchUp }: Pick<ShadowAtWork, 'lease' | 'shadow' | 'catchUp'>,
  signal: AbortSignal,
): Promise<FlipReport> {
  const { generations, graceMs } = parts;
  const { board, generation } = shadow;
  const flip = await catchUp
    .reach((stretches) => generations.flip(lease, shadow, stretches, { graceMs }))
    .catch((error: unknown) => flipOfLostReply(parts, shadow, error));
  const { definition, starts } = shadow;
  const record = { board, generation, since: flip.since, definition, ...(starts && { starts }) };
  await patiently(() => parts.definitions.write([record]), { signal, logger: parts.logger });
  return { board, generation, ...flip };
}

/** A flip whose reply was lost is not found again as a shadow, but as the live generation. */
async function flipOfLostReply(
  { store }: ReconcilerParts,
  { board, generation }: Shadow,
  error: unknown,
): Promise<{ since: number }> {
  if (!(error instanceof ShadowLostError)) throw error;
  const since = (await store.flips()).get(board);
  const { live } = await store.boards();
  if (since === undefined || live.get(board)?.generation !== generation) throw error;
  return { since };
}
