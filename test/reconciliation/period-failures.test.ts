import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { encodePeriodRecord } from '#contracts';
import { listPeriods } from '../../src/reconciliation/periods/period-list.js';
import { event, NEXT_WINDOW, nextDaysEvent, PeriodScene, WINDOW } from './period-scene.js';
import { RUN } from './sandbox.js';

const EVENTS = [event('ada', 5), nextDaysEvent('ada', 1)];
const once = (window: string) => [`${window} 1`, `${window} region=eu 1`];
const BOTH_ONCE = [WINDOW, NEXT_WINDOW].flatMap(once);

let scene: PeriodScene;

beforeAll(async () => {
  scene = await PeriodScene.open(EVENTS);
});
beforeEach(() => scene.begin());
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => scene.close());

/** Lets every read of a view fail whose text begins so. */
function failReadsOf(window: string): void {
  const { sandbox } = scene;
  const pinned = sandbox.pinned.bind(sandbox);
  jest.spyOn(sandbox, 'pinned').mockImplementation(async (name) => {
    const board = await pinned(name);
    const top = board.top.bind(board);
    jest.spyOn(board, 'top').mockImplementation((view, ...args) => {
      if (view.startsWith(window)) return Promise.reject(new Error(`no read of ${window}`));
      return top(view, ...args);
    });
    return board;
  });
}

describe('one failure does not stop the rest: an announcer', () => {
  it('announces the other windows if one fails, and that one later', async () => {
    failReadsOf(WINDOW);
    const announcer = await scene.announcer();
    await expect(announcer.turn(RUN.signal)).rejects.toThrow(`no read of ${WINDOW}`);
    await expect(announcer.turn(RUN.signal)).rejects.toThrow(`no read of ${WINDOW}`);
    expect(await scene.announced()).toEqual(once(NEXT_WINDOW));
    jest.restoreAllMocks();
    await announcer.turn(RUN.signal);
    expect(await scene.announced()).toEqual(BOTH_ONCE);
  });

  it('leaves alone the one window whose record cannot be read, and says so', async () => {
    const { kafka, topics } = scene.instance;
    const record = {
      board: 'arena',
      window: WINDOW,
      revision: 1,
      view: null,
      ends: new Map(),
      notedAt: 0,
    };
    const { key } = encodePeriodRecord(record);
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({
      topic: topics.definitions,
      messages: [{ key, value: '{}', partition: 0 }],
    });
    await producer.disconnect();
    const reason = /definitions\/0 offset \d+ can't be read, so it is unknown whether/;
    await expect(scene.turn()).rejects.toThrow(reason);
    expect(await scene.announced()).toEqual(once(NEXT_WINDOW));
    const [found] = await listPeriods(scene.services());
    expect(found?.periods.map(({ window, state, waitsFor }) => [window, state, waitsFor])).toEqual([
      [WINDOW, 'waiting', expect.stringMatching(reason)],
      [NEXT_WINDOW, 'announced', null],
    ]);
  });

  it('announces the windows of other boards if one board cannot be read', async () => {
    await scene.build({ ...scene.definition, board: 'a cup' });
    const { sandbox } = scene;
    const pinned = sandbox.pinned.bind(sandbox);
    jest.spyOn(sandbox, 'pinned').mockImplementation((name) => {
      return name === 'a cup' ? Promise.reject(new Error('no cup')) : pinned(name);
    });
    await expect(scene.turn()).rejects.toThrow('no cup');
    expect(await scene.announced()).toEqual(BOTH_ONCE);
  });
});
