import { describe, expect, it } from '@jest/globals';
import { LeaderRequests } from './leader-requests.js';

/** Leaders that answer when the test says so. */
function leaders() {
  const asked: number[] = [];
  const waiting = new Map<
    number,
    { resolve: (text: string) => void; reject: (e: Error) => void }
  >();
  const requests = new LeaderRequests<string>();
  const send = () => {
    for (const leader of [1, 2].filter((one) => !requests.isPending(one))) {
      asked.push(leader);
      const answer = new Promise<string>((resolve, reject) => {
        waiting.set(leader, { resolve, reject });
      });
      requests.add(leader, answer);
    }
  };
  return { requests, send, asked, waiting };
}

const LONG_MS = 10_000;

describe('requests to several leaders', () => {
  it('return the answers of one leader while another one is silent', async () => {
    const { requests, send, asked, waiting } = leaders();
    send();
    for (let round = 0; round < 3; round++) {
      waiting.get(1)?.resolve(`round ${round}`);
      expect(await requests.take(LONG_MS)).toEqual([
        { status: 'fulfilled', value: `round ${round}` },
      ]);
      send();
    }
    expect(asked).toEqual([1, 2, 1, 1, 1]);
    waiting.get(2)?.resolve('at last');
    expect(await requests.take(LONG_MS)).toEqual([{ status: 'fulfilled', value: 'at last' }]);
  });

  it('return failures as answers, and all answers that have arrived', async () => {
    const { requests, send, waiting } = leaders();
    send();
    const failure = new Error('no connection');
    waiting.get(2)?.reject(failure);
    waiting.get(1)?.resolve('here');
    await new Promise(setImmediate);
    expect(await requests.take(LONG_MS)).toEqual(
      [
        { status: 'fulfilled', value: 'here' },
        { status: 'rejected', reason: failure },
      ].reverse(),
    );
  });

  it('return nothing after the timeout, or without a pending request', async () => {
    const { requests, send } = leaders();
    expect(await requests.take(LONG_MS)).toEqual([]);
    send();
    expect(await requests.take(1)).toEqual([]);
  });
});
