import { describe, expect, it } from '@jest/globals';
import type { BoardLocator } from './board-locator.js';
import { PagedReads } from './paged-reads.js';
import type { ReadCommands } from './read-commands.js';

const step = (view: string, cursor: string, stale: boolean) => ({
  views: [{ view }],
  cursor,
  stale,
  generation: 'g',
  server: 's',
});

describe('a page of views', () => {
  it('is stale if one of its steps is: a recovery may end between them', async () => {
    const steps = [step('day:2026-03-01', '7', true), step('day:2026-03-02', '0', false)];
    const locator = {
      read: (_: string, work: (located: object) => unknown) => work({ generation: 'g' }),
    } as unknown as BoardLocator;
    const commands = {
      views: () => Promise.resolve(steps.shift()),
      sizes: () => Promise.resolve([1]),
    } as unknown as ReadCommands;
    const found = [];
    for await (const { stale, views } of new PagedReads(locator, commands).views('arena'))
      found.push({ stale, views: views.map(({ view }) => view) });
    expect(found).toEqual([{ stale: true, views: ['day:2026-03-01', 'day:2026-03-02'] }]);
  });
});
