import { sizeOf, type Load, type Size } from '../sizing/size.js';
import { EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

interface SizeOptions extends Omit<Load, 'nodeMemory'>, JsonOption {
  readonly redisGb: number;
}

export function size({ json = false, redisGb, ...given }: SizeOptions): Promise<number> {
  const load = { ...given, nodeMemory: redisGb * 1e9 };
  const found = sizeOf(load);
  print({ load, ...found }, { json }, () => sizeText(load, found));
  return Promise.resolve(found.problems.length === 0 ? EXIT.ok : EXIT.no);
}

type Row = readonly [part: string, size: string, notes: string];

function sizeText({ eventsPerSecond }: Load, found: Size): string {
  const { processes, partitions, kafka, board, problems } = found;
  const perSecond = (bytes: number) => `${bytesText(eventsPerSecond * bytes)}/s`;
  const cores = (cpuPerEvent: number) => {
    const used = (eventsPerSecond * cpuPerEvent) / 1e6;
    return `${used.toFixed(2)} cores, ${cpuPerEvent.toFixed(1)} µs of CPU per event`;
  };
  const kept = `${bytesText(SECONDS_PER_DAY * eventsPerSecond * kafka.event)} a day, which stay`;
  const rows: Row[] = [
    ['processes', count(processes.count), cores(processes.cpuPerEvent)],
    ['memory of each', bytesText(processes.memory), ''],
    ['partitions', count(partitions), 'of the score topic'],
    ...redisRows(found, { perSecond, cores }),
    ['events in Kafka', perSecond(kafka.event), kept],
    ['results in Kafka', perSecond(kafka.result), ''],
    ['one board, at most', `${count(board.eventsPerSecond)} events/s`, 'with half of a core left'],
    ['', `${count(board.players)} players`, 'with room for a build'],
  ];
  const warnings = problems.map((problem) => `\nproblem: ${problem}`);
  return `${table(['part', 'size', 'notes'], rows)}${warnings.join('')}`;
}

interface Formats {
  readonly perSecond: (bytes: number) => string;
  readonly cores: (cpuPerEvent: number) => string;
}

function redisRows({ redis }: Size, { perSecond, cores }: Formats): Row[] {
  const ofNode = `${bytesText(redis.nodeMemory)} on the busiest node`;
  const peakOfNode = `${bytesText(redis.nodePeakMemory)} on the busiest node`;
  return [
    ['Redis primaries', count(redis.nodes), cores(redis.cpuPerEvent)],
    ['shards', count(redis.shards), `${redis.callsPerEvent.toFixed(3)} calls per event`],
    ['memory of Redis', bytesText(redis.memory), ofNode],
    ['  in a build of all', bytesText(redis.peakMemory), peakOfNode],
    ['to Redis', perSecond(redis.received), ''],
    ['from Redis', perSecond(redis.sent), ''],
    ['  to replicas', perSecond(redis.written), 'to each, and to the append-only file'],
  ];
}

const SECONDS_PER_DAY = 86_400;

function count(value: number): string {
  return Math.floor(value).toLocaleString('en');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(bytes) / 3)));
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
  return `${(bytes / 1_000 ** power).toLocaleString('en', digits)} ${UNITS[power] ?? ''}`;
}
