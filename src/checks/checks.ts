import { SettingsError } from '../config/settings.js';
import type { Logger } from '../infra/logger.js';
import { KAFKA_CHECKS, REDIS_CHECKS, type Checks, type Subject } from './servers.js';

/** Printed by `ranklog doctor`. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'refused' | 'unreachable';
  /** What is wrong and what to do; empty if nothing is. */
  readonly text: string;
}

/** Runs checks; `outcomeOf` tells the outcome of an error. */
export function find(
  checks: Checks,
  subject: Subject,
  outcomeOf = (error: unknown): Finding['outcome'] =>
    error instanceof SettingsError ? 'refused' : 'warning',
): Promise<Finding[]> {
  const found = Object.entries(checks).map(async ([check, run]): Promise<Finding> => {
    try {
      const text = await run(subject);
      return typeof text === 'string'
        ? { check, outcome: 'warning', text }
        : { check, outcome: 'ok', text: '' };
    } catch (error) {
      const outcome = outcomeOf(error);
      const { message } = error as Error;
      const text = outcome === 'warning' ? `${check} can't be checked: ${message}` : message;
      return { check, outcome, text };
    }
  });
  return Promise.all(found);
}

/** Logs the warnings. @throws SettingsError with all refusals */
export async function checkServers(subject: Subject, logger: Logger): Promise<void> {
  const findings = await find({ ...REDIS_CHECKS, ...KAFKA_CHECKS }, subject);
  for (const { outcome, text } of findings) if (outcome === 'warning') logger.warn(text);
  const refused = findings.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) throw new SettingsError(refused.map(({ text }) => text));
}
