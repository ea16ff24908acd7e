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
  const flip = await catchUp.reach((stretches) =>
    generations.flip(lease, shadow, stretches, { graceMs }),
  );
  const { definition, starts } = shadow;
  const record = { board, generation, since: flip.since, definition, ...(starts && { starts }) };
  await patiently(() => parts.definitions.write([record]), { signal, logger: parts.logger });
  return { board, generation, ...flip };
}
