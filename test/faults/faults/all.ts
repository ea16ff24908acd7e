import type { Fault } from './fault.js';
import { WORKER_FAULTS } from './workers.js';

export const FAULTS: readonly Fault[] = [...WORKER_FAULTS];

/** @throws when there is none of this name */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(
      `there is no fault ${name}; there are ${FAULTS.map((one) => one.name).join(', ')}`,
    );
  return found;
}
