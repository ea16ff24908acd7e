import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { confirm } from './terminal.js';

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
  ])('reads %j as %s', async (answer, expected) => {
    const { confirmed, shown } = ask(answer);
    expect(await confirmed).toBe(expected);
    expect(shown()).toBe('build? [y/N] ');
  });

  it('rejects with the reason of its signal', async () => {
    const cancellation = new AbortController();
    const { confirmed } = ask('', cancellation.signal);
    cancellation.abort(new Error('enough'));
    await expect(confirmed).rejects.toThrow('enough');
  });
});
