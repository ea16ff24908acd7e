import { expect, it } from '@jest/globals';
import { PermanentPartitionError } from '#kafka-batch';
import { SILENT } from '../../infra/logger.js';
import { EXIT } from '../text/exit-codes.js';
import { describe, exitCodeOf } from '../text/failures.js';
import { whenClosed } from './kafka-session.js';

it('an error of closing is logged, and does not hide the error of the command', async () => {
  const warnings: string[] = [];
  const logger = Object.assign({}, SILENT, { warn: (text: string) => void warnings.push(text) });
  const close = () => whenClosed(Promise.reject(new Error('no connection')), logger);
  async function command(problem?: Error): Promise<number> {
    await using session = { problem, [Symbol.asyncDispose]: close };
    if (session.problem !== undefined) throw session.problem;
    return EXIT.ok;
  }
  const failed = command(new PermanentPartitionError('the log was cut'));
  const error: unknown = await failed.catch((thrown: unknown) => thrown);
  expect([exitCodeOf(error), describe(error)]).toEqual([EXIT.usage, 'the log was cut']);
  expect(await command()).toBe(EXIT.ok);
  const warning = 'closing a connection to Kafka failed: no connection';
  expect(warnings).toEqual([warning, warning]);
});
