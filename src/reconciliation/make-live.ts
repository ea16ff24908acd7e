import type { ReconcilerParts } from './reconciler-parts.js';
import type { FlipReport } from './reports.js';
import type { ShadowAtWork } from './shadow-tasks.js';
import { writeDown } from './write-down.js';

/**
 * Makes a shadow live as soon as it is at the live watermarks, and writes down that its definition is in force. The flip
 * stands, and is answered, whatever becomes of that.
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
  await writeDown(parts, record, signal);
  return { board, generation, ...flip };
}
