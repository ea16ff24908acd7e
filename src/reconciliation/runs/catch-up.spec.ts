import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile } from '#board';
import type { CatchUpOutcome, EventEntry, Shadow, Stretch } from '#board-store';
import { loggerTo } from '../../../test/support/loggers.js';
import { CatchUp, type CatchUpParts } from './catch-up.js';
import { ShadowQueue } from './shadow-queue.js';

const [definition] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'b.yaml',
);
if (definition === undefined) throw new Error('the file defines no board');
const shadow: Shadow = { board: 'arena', generation: 'g', definition, purpose: 'build' };

/** More than six full calls. */
const EVENTS = 6_600;

function entry(offset: number): EventEntry {
  const views = [{ view: 'all', expiresAt: null, published: true }];
  const event = { playerId: 'p', occurredAt: 0, values: [1], views };
  return { kind: 'event', offset, board: 'arena', event };
}

/**
 * The fate of a call: it runs, its answer or the call itself is lost, or the live applied offset
 * moves back meanwhile.
 */
const FATES = ['runs', 'answer lost', 'call lost', 'live moves back'] as const;
type Fate = (typeof FATES)[number];

/**
 * Applies calls as the script does: in their order, up to the live applied offset, never past a
 * gap.
 */
class FakeShadow {
  readonly applied: number[] = [];
  #live = EVENTS - 1;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly fates: Fate[]) {}

  call = <E>(stretches: readonly Stretch[], ending?: E): Promise<CatchUpOutcome<E>> => {
    const fate = this.fates.shift() ?? 'runs';
    const answer = this.#last.then(() => this.#answer(stretches, fate, ending));
    this.#last = answer.catch(() => undefined);
    return answer;
  };

  #answer<E>(stretches: readonly Stretch[], fate: Fate, ending?: E): CatchUpOutcome<E> {
    if (fate === 'call lost') throw new Error('the call was lost');
    const at = this.applied.length - 1;
    this.#live = fate === 'live moves back' ? Math.max(at, this.#live - 3_000) : EVENTS - 1;
    if (stretches.some(({ from }) => from > at + 1)) return { status: 'gap' };
    for (const { entries } of stretches)
      for (const { offset } of entries)
        if (offset === this.applied.length && offset <= this.#live) this.applied.push(offset);
    if (fate === 'answer lost') throw new Error('the answer was lost');
    const place = { shadow: this.applied.length - 1, live: this.#live };
    const isCaughtUp = place.shadow >= this.#live && fate === 'runs';
    const reached = isCaughtUp && ending !== undefined ? { ending } : {};
    return { status: 'applied', appliedOffsets: new Map([[0, place]]), ...reached };
  }
}

describe('catching up', () => {
  it('applies every event once and in order, whatever happens to its calls', async () => {
    const fates = fc.array(fc.constantFrom(...FATES), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fates, async (given) => {
        const fake = new FakeShadow([...given]);
        const queue = new ShadowQueue(shadow, new Map());
        for (let offset = 0; offset < EVENTS; offset++) queue.add(0, entry(offset));
        queue.noteLive(new Map([[0, EVENTS - 1]]));
        const parts = {
          generations: {
            catchUp: (_lease: unknown, _shadow: Shadow, stretches: readonly Stretch[]) =>
              fake.call(stretches),
            liveAppliedOffsets: () => Promise.resolve(new Map([[0, EVENTS - 1]])),
          },
          store: { sweep: () => Promise.resolve(0) },
          feed: {
            news: () => Promise.resolve(),
            roomMade: () => undefined,
            cover: () => undefined,
          },
          stalls: { moved: () => undefined, check: () => Promise.resolve() },
          throttle: { isThrottled: false },
          lease: { board: 'arena', token: 't' },
          logger: loggerTo(() => undefined),
          signal: new AbortController().signal,
          queue,
        } as unknown as CatchUpParts;
        const end = await new CatchUp(parts).reach((stretches) => fake.call(stretches, 'end'));
        expect(end).toBe('end');
        expect(fake.applied).toEqual(Array.from({ length: EVENTS }, (_, offset) => offset));
      }),
      { numRuns: 30 },
    );
  });

  it('counts a throttled walk over players as progress, so that no stall is reported', async () => {
    const done: string[] = [];
    const parts = {
      throttle: { next: (players: number) => Promise.resolve(done.push(`waited for ${players}`)) },
      stalls: { moved: () => done.push('moved') },
      signal: new AbortController().signal,
    } as unknown as CatchUpParts;
    await new CatchUp(parts).waitForThrottle(5);
    expect(done).toEqual(['waited for 5', 'moved']);
  });
});
