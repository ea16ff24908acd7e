import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const BOARDS = `boards:
  arena: { columns: [{ name: score }] }
  cup: { columns: [{ name: score }] }
`;

describe('a command that needs live ingest, while no service runs', () => {
  let sandbox: BoardsSandbox;
  let time: string;

  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(BOARDS);
    const service = await sandbox.instance.start();
    await sandbox.publish([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
    service.kill('SIGTERM');
    await service.ended;
    await sandbox.send([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
    time = new Date().toISOString();
    await until(() => Date.now() > Date.parse(time), 'the next ms');
    await sandbox.send([...eventsOf('arena', 50), ...eventsOf('cup', 50)]);
  });
  afterAll(() => sandbox.remove());

  it('says what it waits for, and goes on when there is one', async () => {
    const rebuild = sandbox.instance.spawn('boards', 'rebuild', 'arena', '--from', time);
    const snapshot = sandbox.instance.spawn('boards', 'snapshot', 'cup', '--until', time);
    const word =
      /waits for live ingest to come to where it begins \(partition \d: at offset \d+ of \d+.*: does a service run/;
    await until(() => word.test(rebuild.errors), 'the rebuild says it');
    const still = /waits for live ingest, which has stood still for 1\d s: does a service run/;
    await until(() => still.test(snapshot.errors), 'the snapshot says it');
    await sandbox.instance.start();
    expect([await rebuild.ended, await snapshot.ended]).toEqual([0, 0]);
    for (const { errors } of [rebuild, snapshot])
      expect(errors.match(/waits for live ingest/g)).toHaveLength(1);
  });
});
