import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { confirm } from './confirm.js';

function ask(answer: string | undefined, signal = new AbortController().signal) {
  const input = new PassThrough();
  const output = new PassThrough();
  const confirmed = confirm('build?', signal, { input, output });
  if (answer === undefined) input.end();
  else input.write(answer);
  return { confirmed, shown: () => String(output.read()) };
}

describe('confirm', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['yeah\n', false],
    [undefined, false],
  ])('takes %j for %s', async (answer, expected) => {
    const { confirmed, shown } = ask(answer);
    expect(await confirmed).toBe(expected);
    expect(shown()).toBe('build? [y/N] ');
  });

  it('ends with the reason of its signal', async () => {
    const asked = new AbortController();
    const { confirmed } = ask('', asked.signal);
    asked.abort(new Error('enough'));
    await expect(confirmed).rejects.toThrow('enough');
  });
});
