import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { CancelledError } from '../../reconciliation/runs/run-errors.js';
import { confirm, interruption } from './terminal.js';

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

describe('interruption', () => {
  const handlers = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');

  it('cancels on a signal, until the end of its scope', () => {
    const before = handlers();
    {
      using cancellation = interruption();
      process.emit('SIGTERM');
      expect(cancellation.signal.reason).toBeInstanceOf(CancelledError);
      process.emit('SIGINT'); // the same request, from a wrapper that forwards it
    }
    expect(handlers()).toBe(before);
  });
});
