import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { KeptSample } from './kept-sample.js';

describe('a sample of a topic', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const later = (seconds: number) => {
    const now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now + seconds * 1_000);
  };
  /** A sample that counts its reads. */
  function counted() {
    let reads = 0;
    return new KeptSample(() => Promise.resolve(++reads));
  }

  it('is read once for all who ask at the same time', async () => {
    const sample = counted();
    expect(await Promise.all([sample.get(), sample.get()])).toEqual([1, 1]);
  });

  it('is read again after ten seconds', async () => {
    const sample = counted();
    expect(await sample.get()).toBe(1);
    later(9);
    expect(await sample.get()).toBe(1);
    later(2);
    expect(await sample.get()).toBe(2);
  });

  it('is read once while a read takes longer than that, and kept from its end', async () => {
    let reads = 0;
    let end = (_: number) => {};
    const sample = new KeptSample(() => {
      reads += 1;
      return new Promise<number>((resolve) => (end = resolve));
    });
    const first = sample.get();
    later(60);
    const second = sample.get();
    end(1);
    expect(await Promise.all([first, second, sample.get()])).toEqual([1, 1, 1]);
    later(9);
    expect(await sample.get()).toBe(1);
    expect(reads).toBe(1);
  });

  it('is read again after a failure', async () => {
    let fails = true;
    const sample = new KeptSample(() =>
      fails ? Promise.reject(new Error('Kafka is away')) : Promise.resolve('found'),
    );
    await expect(sample.get()).rejects.toThrow('Kafka is away');
    fails = false;
    expect(await sample.get()).toBe('found');
  });
});
