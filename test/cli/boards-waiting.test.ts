import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { BoardsGround, eventsOf } from './boards-ground.js';

const BOARDS = `boards:
  arena: { columns: [{ name: score }] }
  cup: { columns: [{ name: score }] }
`;

describe('a command that needs live ingest, while no service runs', () => {
  let ground: BoardsGround;
  let time: string;

  beforeAll(async () => {
    ground = await BoardsGround.create(BOARDS);
    const service = await ground.instance.start();
    await ground.publish([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
    service.kill('SIGTERM');
    await service.ended;
    await ground.send([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
    time = new Date().toISOString();
    await until(() => Date.now() > Date.parse(time), 'the next ms');
    await ground.send([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
  });
  afterAll(() => ground.remove());

  it('says what it waits for, and goes on when there is one', async () => {
    const rebuild = ground.instance.spawn('boards', 'rebuild', 'arena', '--from', time);
    const snapshot = ground.instance.spawn('boards', 'snapshot', 'cup', '--until', time);
    const word =
      /waits for live ingest to come to where it begins \(partition \d: at offset \d+ of \d+.*: does a service run/;
    await until(() => word.test(rebuild.errors), 'the rebuild says it');
    const still = /waits for live ingest, which has stood still for 1\d s: does a service run/;
    await until(() => still.test(snapshot.errors), 'the snapshot says it');
    await ground.instance.start();
    expect([await rebuild.ended, await snapshot.ended]).toEqual([0, 0]);
    for (const { errors } of [rebuild, snapshot])
      expect(errors.match(/waits for live ingest/g)).toHaveLength(1);
  });
});
