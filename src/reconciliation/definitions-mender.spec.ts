import { describe, expect, it } from '@jest/globals';
import { DefinitionsMender } from './definitions-mender.js';

type End = readonly string[] | Error;

/** What a mender tells whose looks come to these ends. */
async function wordsAt(ends: readonly End[]): Promise<string[]> {
  const words: string[] = [];
  const say = (message: string) => void words.push(message);
  let looks = 0;
  let mender: DefinitionsMender | undefined;
  await new Promise<void>((resolve) => {
    const holding = setTimeout(resolve, 10_000); // the mender holds no process
    const mend = () => {
      const end = ends[looks++];
      if (end === undefined) {
        clearTimeout(holding);
        resolve();
      }
      return end instanceof Error ? Promise.reject(end) : Promise.resolve([...(end ?? [])]);
    };
    mender = new DefinitionsMender({ mend }, { info: say, warn: say }, 1);
    mender.start();
  });
  await mender?.stop();
  return words;
}

describe('the mender of the definitions topic', () => {
  it('tells what it has mended', async () => {
    const words = await wordsAt([[], ['arena', 'form']]);
    expect(words.map((line) => /"(\w+)"/.exec(line)?.[1])).toEqual(['arena', 'form']);
  });

  it('goes on after a failure, of which it tells', async () => {
    const words = await wordsAt([new Error('Kafka is away'), ['arena']]);
    expect(words).toHaveLength(2);
    expect(words[0]).toContain('Kafka is away');
  });
});
