import { InvalidArgumentError } from 'commander';
import { parseTime } from '#board/time';
import { ROLES, type Role } from '../../config/roles.js';

/** A whole number of at least 1. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < 1)
    throw new InvalidArgumentError('use a whole number from 1');
  return value;
}

/** ms of a time with a zone. */
export function momentOf(text: string): number {
  const time = parseTime(text);
  if (time === undefined)
    throw new InvalidArgumentError('use a time with a zone, such as 2026-11-20T09:00:00Z');
  return time;
}

/** A time that is over. */
export interface PastMoment {
  /** ms */
  readonly time: number;
  /** A date without a time: its start in UTC is meant. */
  readonly isDate: boolean;
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** A time that is over, in ms, or the start of the log. */
export function pastTimeOrStart(text: string): number | 'start' {
  if (text === 'start') return text;
  const time = parseTime(text);
  if (time === undefined)
    throw new InvalidArgumentError(
      'use a time with a zone, such as 2026-11-20T09:00:00Z, or start for all that the log has',
    );
  if (time > Date.now())
    throw new InvalidArgumentError('it is yet to come: nothing was sent after it');
  return time;
}

export function pastMoment(text: string): PastMoment {
  const isDate = DATE.test(text);
  const time = parseTime(isDate ? `${text}T00:00:00Z` : text);
  if (time === undefined)
    throw new InvalidArgumentError(
      'use a time with a zone, such as 2026-03-01T00:00:00Z, or a date',
    );
  if (time > Date.now())
    throw new InvalidArgumentError('it is yet to come; a snapshot shows a time that is over');
  return { time, isDate };
}

/** An option that is repeated: all its texts. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

type NameAndValue = readonly [string, string];

/** `name=value`, repeated. */
export function collectWhere(text: string, before: readonly NameAndValue[] = []): NameAndValue[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write --where name=value');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

/** Names of roles, with commas between. */
export function rolesOf(text: string): Role[] {
  return text.split(',').map((name) => {
    const role = ROLES.find((known) => known === name.trim());
    if (role === undefined)
      throw new InvalidArgumentError(`"${name}" is no role; there are ${ROLES.join(', ')}`);
    return role;
  });
}
