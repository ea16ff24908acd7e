import { retriedIds } from '#contracts';
import { recordContent } from '../record-content.js';
import { summary, type RunFacts } from './facts.js';

const MOST_SHOWN = 200;

/**
 * Finds records of the score topic that the load has not sent, and sent records that it lacks. The
 * other checks take the log for the truth, and read it with the decoders of ranklog: these must
 * return the bytes that were sent.
 */
export function logProblems({ log, sent }: Pick<RunFacts, 'log' | 'sent'>): string[] {
  const found = new Map<string, number>();
  for (const record of log) {
    if (retriedIds(record).length > 0) continue;
    const content = recordContent(record);
    found.set(content, (found.get(content) ?? 0) + 1);
  }
  const unknown = [...found.keys()].filter((content) => !sent.has(content));
  const missing = [...sent].filter(([content, times]) => (found.get(content) ?? 0) < times);
  return [
    ...summary('contents of records that nobody sent', unknown.map(shortened)),
    ...summary(
      'contents of sent records that the log lacks',
      missing.map(([it]) => shortened(it)),
    ),
  ];
}

function shortened(content: string): string {
  return content.length > MOST_SHOWN ? `${content.slice(0, MOST_SHOWN)}...` : content;
}
