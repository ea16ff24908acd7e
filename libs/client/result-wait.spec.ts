import { describe, expect, it } from '@jest/globals';
import { ResultWait } from './result-wait.js';

const at = { topic: 'scores', partition: 1, offset: 7 };
const event = { board: 'arena', playerId: 'ada', delta: '1' };
const unchanged = () => ({ status: 'unchanged' }) as const;
const other = () => ({ status: 'unpublished' }) as const;

describe('the wait for the result of an event', () => {
  it.each(['after', 'before'])(
    'takes its result that comes %s the acknowledgement',
    async (when) => {
      const wait = new ResultWait('scores', event);
      if (when === 'after') wait.acknowledged(at);
      wait.take('scores/1/6', other);
      wait.take('scores/1/7', unchanged);
      wait.take('scores/2/7', other);
      if (when === 'before') wait.acknowledged(at);
      expect(await wait.outcome).toEqual({ status: 'unchanged' });
    },
  );

  it('fails once if its result is unreadable', async () => {
    const wait = new ResultWait('scores', event);
    wait.acknowledged(at);
    wait.take('scores/1/7', () => {
      throw new SyntaxError('no JSON');
    });
    wait.fail('too late');
    wait.settle(unchanged);
    await expect(wait.outcome).rejects.toMatchObject({
      code: 'RESULT_UNKNOWN',
      message: expect.stringContaining("its result can't be read: no JSON"),
      cause: expect.any(SyntaxError),
    });
  });

  it('that fails says whether Kafka has acknowledged the event', async () => {
    const [sent, unsent] = [new ResultWait('scores', event), new ResultWait('scores', event)];
    sent.acknowledged(at);
    for (const wait of [sent, unsent]) wait.fail('no result after 5 ms');
    await expect(sent.outcome).rejects.toThrow(
      'the outcome of the record in scores/1 at offset 7 (board arena, player ada) is unknown: ' +
        'no result after 5 ms. Kafka has the record',
    );
    await expect(unsent.outcome).rejects.toThrow(
      'in scores (board arena, player ada) is unknown: no result after 5 ms. Kafka has not acknowledged the record',
    );
  });
});
