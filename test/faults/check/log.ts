import { retriedIds } from '#contracts';
import { recordContent } from '../record-content.js';
import { summary, type RunFacts } from './facts.js';

const MOST_SHOWN = 200;

/**
 * Finds records of the score topic that the load has not sent. The other checks take the log for
 * the truth, and read it with the decoders of ranklog: these must return the bytes that were sent.
 * Records may be missing: when leaders move, kafkajs confirms some that it has not sent.
 */
export function logProblems({ log, sent }: Pick<RunFacts, 'log' | 'sent'>): string[] {
  const found = log
    .filter((record) => retriedIds(record).length === 0)
    .map((record) => recordContent(record));
  const unknown = found.filter((content) => !sent.has(content));
  return summary('records that nobody sent', unknown.map(shortened));
}

function shortened(content: string): string {
  return content.length > MOST_SHOWN ? `${content.slice(0, MOST_SHOWN)}...` : content;
}
