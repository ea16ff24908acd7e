import { InvalidArgumentError, Option } from 'commander';
import type { ViewSelection } from '#board-store';
import { parseTime } from '#board/time';
import { ROLES, type Role } from '../../config/roles.js';

export interface JsonOption {
  readonly json?: boolean;
}

/** A record of the score topic. */
export interface RecordName {
  readonly partition: number;
  readonly offset: number;
}

/** A time that `givenTime` has checked. Without a zone, it is in the time zone of the board. */
export type TimeText = string;

/** Options of commands that build. */
export interface BuildOptions extends JsonOption {
  /** "start", or a time as in `TimeText`. */
  readonly from?: string;
  /** Events per second. */
  readonly throttle?: number;
  readonly allowPartialHistory?: boolean;
}

/** Options of commands that read views. */
export interface ReadOptions extends Omit<ViewSelection, 'at'>, JsonOption {
  readonly at?: TimeText;
  readonly generation?: string;
}

/** In the help of the argument `<player>`. */
export const PLAYER = 'the id of the player; write "--" before an id that begins with "-"';

/** In the help of options with a time. */
export const IN_ZONE_OF_BOARD = "without a zone, in the board's";

export const GENERATION = new Option('--generation <id>', 'read this snapshot, not the live board');
export const THROTTLE = new Option(
  '--throttle <n>',
  'read at most n events per second, to leave Redis time for live events',
).argParser(wholeNumber);
export const FROM = new Option(
  '--from <time>',
  `skip records with an earlier timestamp; ${IN_ZONE_OF_BOARD}; stored with the generation and ` +
    'used by later builds; "start" reads the whole log (default: where the live generation ' +
    'starts)',
).argParser((text) => (text === 'start' ? text : givenTime(text, ', or "start"')));
export const ALLOW_PARTIAL_HISTORY = new Option(
  '--allow-partial-history',
  'build from the rest of a log whose beginning is gone; stored with the generation and shown ' +
    'by "status"',
);

/** A batch of records: TOPIC/PARTITION/FIRST-LAST. */
export function batchPlace(text: string) {
  const parts = /^(.+)\/(\d{1,9})\/(\d{1,15})-(\d{1,15})$/.exec(text);
  if (parts === null) throw new InvalidArgumentError('use TOPIC/PARTITION/FIRST-LAST');
  const [, topic = '', partition, first, last] = parts;
  return { topic, partition: Number(partition), first: Number(first), last: Number(last) };
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < 1)
    throw new InvalidArgumentError('use a whole number from 1');
  return value;
}

/** Reads whole numbers from 1 to `most`. */
export function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = wholeNumber(text);
    if (value > most) throw new InvalidArgumentError(`use a whole number from 1 to ${most}`);
    return value;
  };
}

export function partitionNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('use a whole number from 0');
  return Number(text);
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?$/;

/** A date or a time, with or without a zone; the command reads it with `timeOn`. */
export function givenTime(text: string, otherwise = ''): TimeText {
  if (timeInUtc(text) === undefined)
    throw new InvalidArgumentError(
      `use a date, or a time such as 2026-03-01T18:00 or 2026-03-01T18:00:00Z${otherwise}`,
    );
  return text;
}

/** A time in the past, in ms. Without a zone, it is in UTC. */
export function pastTimeInUtc(text: string): number {
  const time = timeInUtc(givenTime(text)) ?? NaN;
  if (time > Date.now()) throw new InvalidArgumentError('it is in the future; use an earlier time');
  return time;
}

/** A time in ms; undefined for a text that is not a time. */
function timeInUtc(text: string): number | undefined {
  const [, date, clock = '00:00', seconds = ':00'] = LOCAL_TIME.exec(text) ?? [];
  return parseTime(date === undefined ? text : `${date}T${clock}${seconds}Z`);
}

export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Adds a record, given as PARTITION/OFFSET, to the records before. */
export function collectPlaces(text: string, before: readonly RecordName[]): RecordName[] {
  const place = recordName(text);
  if (place === undefined) throw new InvalidArgumentError('use PARTITION/OFFSET, such as 0/17');
  return [...before, place];
}

/** Reads PARTITION/OFFSET; returns undefined for another text. */
export function recordName(text: string): RecordName | undefined {
  const [, partition, offset] = /^(\d{1,9})\/(\d{1,15})$/.exec(text) ?? [];
  if (partition === undefined || offset === undefined) return undefined;
  return { partition: Number(partition), offset: Number(offset) };
}

export function collectNamed(text: string, before: Readonly<Record<string, string>> = {}) {
  const equalsSign = text.indexOf('=');
  if (equalsSign < 1) throw new InvalidArgumentError('use name=value');
  const name = text.slice(0, equalsSign);
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice`);
  return { ...before, [name]: text.slice(equalsSign + 1) };
}

export function rolesOf(text: string): Role[] {
  return text.split(',').map((name) => {
    const role = ROLES.find((known) => known === name.trim());
    if (role === undefined)
      throw new InvalidArgumentError(`"${name}" is not a role; use ${ROLES.join(', ')}`);
    return role;
  });
}
