import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { decodeDeadLetter } from '#contracts';
import { eachCommitted } from '../support/results.js';
import { event, expectRankChanges, scores, useScoreTopic } from './score-topic.js';

const BATCHES = 20;
const BATCH = 1_000;
/** The number of bad records: one of 1 MB follows each batch. */
const BAD = BATCHES * (BATCH + 1);
const GOOD = 1_000;
const MAX_MEGABYTES = 700;

const GOOD_EVENT = event('ada');

/** Records that can never be applied, each with its reason. */
const KINDS: readonly (readonly [Message, code: string])[] = [
  [{ value: '{"board":"arena","playerId":' }, 'NOT_JSON'],
  [{ value: '' }, 'EMPTY_VALUE'],
  [{ key: 'ada', value: null }, 'EMPTY_VALUE'],
  [{ value: GOOD_EVENT.replace('arena', 'nowhere') }, 'UNKNOWN_BOARD'],
  [{ value: GOOD_EVENT, headers: { ce_specversion: '0.3' } }, 'UNSUPPORTED_CLOUDEVENT'],
  [{ value: GOOD_EVENT, headers: { ce_type: 'com.example.goal' } }, 'UNKNOWN_RECORD_TYPE'],
  [{ value: Buffer.alloc(64) }, 'NOT_JSON'],
  [{ key: Buffer.alloc(4), value: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }, 'NOT_UTF8'],
];

const inTwoPartitions = (count: number, messageOf: (n: number) => Message): Message[] =>
  Array.from({ length: count }, (_, n) => ({ ...messageOf(n), partition: n % 2 }));

function* badRecords(): Generator<Message[]> {
  for (let batch = 0; batch < BATCHES; batch++) {
    yield inTwoPartitions(BATCH, (n) => KINDS[n % KINDS.length]![0]);
    yield [{ partition: batch % 2, value: 'x'.repeat(1_000_000) }];
  }
}

/** Resident memory of a process in MB. */
function residentMegabytes(pid: number): number {
  const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return (Number(text) * 1_024) / 1e6;
}

describe('a long series of records that can never be applied', () => {
  const made = useScoreTopic({ partitions: 2 });

  it('becomes one dead letter for each record; good records are applied, and memory stays bounded', async () => {
    const { instance, log } = made;
    const service = await instance.start();
    let megabytes = 0;
    const measure = () => (megabytes = Math.max(megabytes, residentMegabytes(service.pid)));
    const timer = setInterval(measure, 250);
    const good = inTwoPartitions(GOOD, () => ({ value: GOOD_EVENT }));
    await log.sendMessages(good, ...badRecords(), good);
    await instance.published(2 * GOOD + BAD);
    clearInterval(timer);

    const codes: Record<string, number> = {};
    const causes = new Set<string>();
    await eachCommitted(instance.kafka, instance.topics.deadLetters, (record) => {
      const { code, partition, offset } = decodeDeadLetter(record)!;
      codes[code] = (codes[code] ?? 0) + 1;
      causes.add(`${partition}/${offset}`);
    });
    const each = (BATCHES * BATCH) / KINDS.length;
    expect(codes).toEqual({
      NOT_JSON: 2 * each + BATCHES,
      EMPTY_VALUE: 2 * each,
      UNKNOWN_BOARD: each,
      UNSUPPORTED_CLOUDEVENT: each,
      UNKNOWN_RECORD_TYPE: each,
      NOT_UTF8: each,
    });
    expect(causes.size).toBe(BAD);
    await expectRankChanges(instance, 2 * GOOD);
    expect(await scores(instance)).toEqual({ ada: 2 * GOOD });
    expect(megabytes).toBeLessThan(MAX_MEGABYTES);
    expect(service.exitCode).toBeNull();
  });
});
