import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { decodeDeadLetter } from '#contracts';
import { TestInstance } from '../support/instance.js';
import { eachCommitted } from '../support/results.js';
import { BOARDS, expectRankChanges, ScoreTopic } from './score-topic.js';

/** How many bad records; a million of them take some minutes. */
const BAD = Number(process.env['RANKLOG_TEST_POISON'] ?? 50_000);
const LARGE = 20;
const GOOD = 1_000;
const PARTITIONS = 2;
const BATCH = 1_000;
const MAX_MEGABYTES = 700;

const event = JSON.stringify({ board: 'arena', playerId: 'ada', delta: 1 });

/** Records that can never be applied, each with its reason. */
const KINDS: readonly (readonly [Omit<Message, 'partition'>, code: string])[] = [
  [{ value: '{"board":"arena","playerId":' }, 'NOT_JSON'],
  [{ value: '' }, 'EMPTY_VALUE'],
  [{ key: 'ada', value: null }, 'EMPTY_VALUE'],
  [{ value: event.replace('arena', 'nowhere') }, 'UNKNOWN_BOARD'],
  [{ value: event, headers: { ce_specversion: '0.3' } }, 'UNSUPPORTED_CLOUDEVENT'],
  [{ value: event, headers: { ce_type: 'com.example.goal' } }, 'UNKNOWN_RECORD_TYPE'],
  [{ value: Buffer.alloc(64) }, 'NOT_JSON'],
  [{ key: Buffer.alloc(4), value: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }, 'NOT_UTF8'],
];
const LARGE_KIND: Omit<Message, 'partition'> = { value: 'x'.repeat(1_000_000) };

/** Resident memory of a process in MB. */
function residentMegabytes(pid: number): number {
  const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return (Number(text) * 1_024) / 1e6;
}

describe('a long run of records that can never be applied', () => {
  let instance: TestInstance;
  afterEach(() => instance.remove());

  it(
    `becomes ${BAD + LARGE} dead letters, one each; other records count, and memory stays bounded`,
    async () => {
      instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
      const { reader } = instance;
      const service = await instance.start();
      const megabytes: number[] = [];
      const timer = setInterval(() => megabytes.push(residentMegabytes(service.pid)), 250);
      const begin = performance.now();
      await new ScoreTopic(instance).sendMessages(goodRecords(), ...badRecords(), goodRecords());
      await instance.published(2 * GOOD + BAD + LARGE);
      const seconds = (performance.now() - begin) / 1_000;
      clearInterval(timer);
      const half = Math.floor(megabytes.length / 2);
      const most = [megabytes.slice(0, half), megabytes.slice(half)].map((all) => Math.max(...all));
      process.stdout.write(
        `${BAD + LARGE} bad records in ${seconds.toFixed(1)} s, at most ${most.map(Math.round).join(' and ')} MB in the halves\n`,
      );

      const letters = await countLetters();
      expect(letters.repeated).toBe(0);
      expect(letters.codes).toEqual(expectedCodes());
      await expectRankChanges(instance, 2 * GOOD);
      const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 2 });
      expect(entries).toMatchObject([{ playerId: 'ada', columns: { score: String(2 * GOOD) } }]);
      expect(Math.max(...most)).toBeLessThan(MAX_MEGABYTES);
      expect(service.exitCode).toBeNull();
    },
    250_000 + BAD,
  );

  /** The number of dead letters by code, and of those with the same record as another. */
  async function countLetters(): Promise<{ codes: Record<string, number>; repeated: number }> {
    const codes: Record<string, number> = {};
    const seen = Array.from({ length: PARTITIONS }, () => new Uint8Array(BAD + LARGE + 2 * GOOD));
    let repeated = 0;
    await eachCommitted(instance.kafka, instance.topics.deadLetters, (record) => {
      const letter = decodeDeadLetter(record);
      const { code = 'none', partition = -1, offset = -1 } = letter ?? {};
      codes[code] = (codes[code] ?? 0) + 1;
      const offsets = seen[partition] ?? new Uint8Array();
      if (offsets[offset] !== 0) repeated += 1;
      offsets[offset] = 1;
    });
    return { codes, repeated };
  }
});

function goodRecords(): Message[] {
  return Array.from({ length: GOOD }, (_, n) => ({ partition: n % PARTITIONS, value: event }));
}

function* badRecords(): Generator<Message[]> {
  let large = 0;
  for (let from = 0; from < BAD; from += BATCH) {
    yield Array.from({ length: Math.min(BATCH, BAD - from) }, (_, index) => ({
      partition: index % PARTITIONS,
      ...kindOf(from + index)[0],
    }));
    for (; large < LARGE && large / LARGE <= from / BAD; large++)
      yield [{ partition: large % PARTITIONS, ...LARGE_KIND }];
  }
  for (; large < LARGE; large++) yield [{ partition: 0, ...LARGE_KIND }];
}

function kindOf(n: number): (typeof KINDS)[number] {
  const kind = KINDS[n % KINDS.length];
  if (kind === undefined) throw new RangeError(`there is no kind ${n}`);
  return kind;
}

function expectedCodes(): Record<string, number> {
  const codes: Record<string, number> = { NOT_JSON: LARGE };
  for (let n = 0; n < BAD; n++) {
    const [, code] = kindOf(n);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  return codes;
}
