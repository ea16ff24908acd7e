import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, Subject } from 'rxjs';
import type { Standings } from '#board-store';
import type { RankChange } from '#contracts';
import { until } from '../../../test/support/instance.js';
import { ViewFeeds, type Top } from './view-feed.js';

const REQUEST = { board: 'arena', limit: 2 };
const rank = (value: number) => ({ rank: value, columns: {} });
const moved = (view: string, before: number | null, after: number | null) =>
  ({
    changes: [{ view, before: before && rank(before), after: after && rank(after) }],
  }) as unknown as RankChange;

/** A view of which each read waits for `answer` or `fail`. */
function setUp() {
  const heard = new Subject<[RankChange, Buffer]>();
  const reads: { answer: (version: number) => void; fail: (error: Error) => void }[] = [];
  const standings = () =>
    new Promise<Standings>((resolve, reject) => {
      const answer = (version: number) => resolve({ view: 'all', version } as Standings);
      reads.push({ answer, fail: reject });
    });
  const changes = { id: '7', of: () => heard };
  const sources = { reader: { standings }, changes };
  const feeds = new ViewFeeds();
  const get = () => feeds.get(REQUEST, sources);
  const tops: Top[] = [];
  const errors: unknown[] = [];
  const show = () =>
    get().subscribe({ next: (top) => tops.push(top), error: (error) => errors.push(error) });
  const versions = () => tops.map(({ data }) => (JSON.parse(data) as Standings).version);
  const change = (value: RankChange) => heard.next([value, Buffer.of()]);
  const reading = (count: number) => until(() => reads.length === count, `${count} reads`, 5);
  const isOpen = () => heard.observed;
  return { reads, get, show, change, changes, reading, tops, errors, versions, isOpen };
}

describe('ViewFeeds', () => {
  it('reads a view once more after changes that come during a read, and never twice at a time', async () => {
    const { reads, show, change, reading, versions, tops, isOpen } = setUp();
    const shown = show();
    await reading(1);
    const end = performance.now() + 600; // reads are 250 ms apart
    const isOver = () => performance.now() > end || reads.length > 1;
    await until(() => (change(moved('all', 2, 1)), isOver()), 'the next reads are due', 5);
    expect(reads).toHaveLength(1);
    reads[0]?.answer(1);
    await reading(2);
    reads[1]?.answer(2);
    await until(() => tops.length === 2, 'both are shown', 5);
    expect([versions(), reads.length]).toEqual([[1, 2], 2]);
    expect(tops[1]?.event.toString()).toBe(
      'event: standings\nid: 7\ndata: {"view":"all","version":2}\n\n',
    );
    shown.unsubscribe();
    await until(() => !isOpen(), 'the feed ends', 5);
  });

  it('reads a view only after changes of its first players or their number', async () => {
    const { reads, show, change, changes, reading, tops, isOpen } = setUp();
    const shown = show();
    await reading(1);
    reads[0]?.answer(1);
    await until(() => tops.length === 1, 'it is shown', 5);
    changes.id = '8';
    change(moved('all', 9, 3));
    change(moved('week', 2, 1));
    change(moved('all', null, 9));
    await reading(2);
    reads[1]?.answer(1);
    change(moved('all', 9, 2));
    await reading(3);
    // The second read found nothing new, and moved the position at which a later stream begins.
    expect(tops).toMatchObject([
      { id: '7', isChanged: true },
      { id: '8', isChanged: false },
    ]);
    shown.unsubscribe();
    await until(() => !isOpen(), 'the feed ends', 5);
  });

  it('is one feed for all, with the last standings for whoever comes later, and ends after the last', async () => {
    const { reads, get, show, reading, versions, isOpen } = setUp();
    const feed = get();
    const first = firstValueFrom(feed);
    await reading(1);
    reads[0]?.answer(1);
    await first;
    const shown = [show(), show()];
    expect(versions()).toEqual([1, 1]);
    expect(reads).toHaveLength(1);
    for (const subscription of shown) subscription.unsubscribe();
    await until(() => !isOpen(), 'the feed ends', 5);
    expect(get()).not.toBe(feed);
  });

  it('waits for Redis once it was read, and passes on other errors', async () => {
    const { reads, get, show, change, reading, errors, versions, isOpen } = setUp();
    const away = new Error('Command timed out');
    const first = firstValueFrom(get());
    await reading(1);
    reads[0]?.fail(away);
    await expect(first).rejects.toBe(away);
    show();
    await reading(2);
    reads[1]?.answer(1);
    await until(() => versions().length === 1, 'it is shown', 5);
    change(moved('all', 2, 1));
    await reading(3);
    reads[2]?.fail(away);
    await reading(4);
    expect(errors).toEqual([]);
    const gone = new Error('expired');
    reads[3]?.fail(gone);
    await until(() => errors.length === 1, 'it ends', 5);
    expect([errors, isOpen()]).toEqual([[gone], false]);
  });
});
