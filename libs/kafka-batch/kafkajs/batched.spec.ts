import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { Batched } from './batched.js';

const NOT_LEADER = 6;

/** Requests that the test answers; `asked` has the keys of each. */
function manual() {
  const asked: string[][] = [];
  const waiting: { resolve: (found: Map<string, string>) => void; reject: (e: Error) => void }[] =
    [];
  const batched = new Batched<string, string>((keys) => {
    asked.push([...keys]);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  });
  const turn = () => new Promise(setImmediate);
  const answer = async (text: string) => {
    await turn();
    waiting.shift()?.resolve(new Map(asked.at(-1)?.map((key) => [key, `${key}: ${text}`])));
  };
  const fail = async (error: Error) => {
    await turn();
    waiting.shift()?.reject(error);
    await turn();
  };
  return { batched, asked, turn, answer, fail };
}

describe('batched look-ups', () => {
  it('share one request when they are made together', async () => {
    const { batched, asked, answer } = manual();
    const answers = Promise.all(['a', 'b', 'a'].map((key) => batched.get(key)));
    await answer('yes');
    expect(await answers).toEqual(['a: yes', 'b: yes', 'a: yes']);
    expect(asked).toEqual([['a', 'b']]);
  });

  it('share the next request while one is pending', async () => {
    const { batched, asked, turn, answer } = manual();
    const early = batched.get('a');
    await turn();
    const late = Promise.all([batched.get('a'), batched.get('b')]);
    await turn();
    expect(asked).toEqual([['a']]);
    await answer('before');
    expect(await early).toBe('a: before');
    await answer('after');
    expect(await late).toEqual(['a: after', 'b: after']);
    expect(asked).toEqual([['a'], ['a', 'b']]);
  });

  it('get one request for each key after Kafka refused the shared request', async () => {
    const { batched, asked, answer, fail } = manual();
    const refusal = protocolErrors.createErrorFromCode(NOT_LEADER);
    const answers = Promise.allSettled([batched.get('a'), batched.get('b')]);
    await fail(refusal);
    await fail(refusal);
    await answer('yes');
    expect(await answers).toEqual([
      { status: 'rejected', reason: refusal },
      { status: 'fulfilled', value: 'b: yes' },
    ]);
    expect(asked).toEqual([['a', 'b'], ['a'], ['b']]);
  });

  it('fail with an error of another realm', async () => {
    const { batched, fail } = manual();
    const foreign = runInNewContext('new Error("foreign")') as Error;
    const answer = batched.get('a');
    await Promise.all([fail(foreign), expect(answer).rejects.toBe(foreign)]);
  });

  it('fail together when the connection is lost; later look-ups still work', async () => {
    const { batched, asked, answer, fail } = manual();
    const lost = new Error('the connection was lost');
    const answers = Promise.allSettled([batched.get('a'), batched.get('b')]);
    await fail(lost);
    expect(await answers).toEqual(Array(2).fill({ status: 'rejected', reason: lost }));
    const next = batched.get('a');
    await answer('again');
    expect(await next).toBe('a: again');
    expect(asked).toEqual([['a', 'b'], ['a']]);
  });
});
