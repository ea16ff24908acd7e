import { describe, expect, it } from '@jest/globals';
import { problemsOf as fileProblemsOf } from '../../test/support/boards-file-problems.js';
import { parseBoardsFile } from './boards-file.js';

/**
 * A file with one board whose windows are the given flow text. The fields of the board begin in
 * line 3.
 */
const file = (windows: string, timeZone: string) =>
  `boards:\n  arena:\n    columns: [{name: x}]\n    timeZone: ${timeZone}\n    windows: ${windows}\n`;

const windowsOf = (windows: string, timeZone = 'UTC') =>
  parseBoardsFile(file(windows, timeZone), 'b.yaml').flatMap((board) => board.windows);

const problemsOf = (windows: string, timeZone = 'UTC') => fileProblemsOf(file(windows, timeZone));

const at = (time: string) => Date.parse(time);

describe('windows', () => {
  it('of the calendar have a short and a long form', () => {
    expect(windowsOf('[all, week, {window: day}, {window: month, keep: 2w}, year]')).toEqual([
      { kind: 'all' },
      { kind: 'week' },
      { kind: 'day' },
      { kind: 'month', keepMs: 14 * 86_400_000 },
      { kind: 'year' },
    ]);
  });

  it.each([
    ['a calendar window', 'window: week', { kind: 'week' }],
    [
      'a season',
      'season: s, from: 2026-01-01, to: 2026-02-01',
      { kind: 'season', name: 's', from: at('2026-01-01'), to: at('2026-02-01') },
    ],
    [
      'an interval',
      "interval: i, cron: '0 18 * * 5', start: 2026-01-01",
      { kind: 'interval', name: 'i', cron: '0 18 * * 5', start: at('2026-01-01') },
    ],
  ])('can close, with defaults: %s', (_what, fields, window) => {
    const hour = 3_600_000;
    const from = at('2026-01-01');
    const usual = { from, graceMs: hour / 6, reviewMs: 24 * hour, results: 100 };
    expect(windowsOf(`[{${fields}, close: {from: 2026-01-01}}]`)).toEqual([
      { ...window, close: usual },
    ]);
    const close = '{from: 2026-01-01T03:00, grace: 0s, review: manual, results: 500}';
    expect(windowsOf(`[{${fields}, keep: 24h, close: ${close}}]`)).toEqual([
      {
        ...window,
        keepMs: 24 * hour,
        close: { from: from + 3 * hour, graceMs: 0, reviewMs: 'manual', results: 500 },
      },
    ]);
  });

  it('begin to close at a time in the zone of the board', () => {
    expect(windowsOf('[{window: day, close: {from: 2026-03-01}}]', 'Europe/Paris')).toMatchObject([
      { close: { from: at('2026-02-28T23:00:00Z') } },
    ]);
  });

  it('are kept for the grace, the review and a day more, if they close', () => {
    const kept = (keep: string) =>
      problemsOf(
        `[{window: day, keep: ${keep}, close: {from: 2026-01-01, grace: 1h, review: 2d}}]`,
      );
    expect(kept('73h')).toEqual([]);
    expect(kept(`${73 * 3_600 - 1}s`)).toHaveLength(1);
  });

  it('of a cron expression have a name and a start; spaces are normalised', () => {
    const text = "[{interval: contest, cron: ' 0 18  * * 5 ', start: 2026-01-01, keep: 1h}]";
    expect(windowsOf(text, 'Europe/Paris')).toEqual([
      {
        kind: 'interval',
        name: 'contest',
        cron: '0 18 * * 5',
        start: at('2025-12-31T23:00:00Z'),
        keepMs: 3_600_000,
      },
    ]);
  });

  it.each([
    ['a date', '2026-03-01', '2026-02-28T23:00:00Z'],
    ['a date and time', '2026-03-01T18:00', '2026-03-01T17:00:00Z'],
    ['a date and time with a space', '2026-03-01 18:00:05', '2026-03-01T17:00:05Z'],
    ['a time with a zone', "'2026-03-01T18:00:00Z'", '2026-03-01T18:00:00Z'],
    ['an offset', '2026-03-01T18:00+05:30', '2026-03-01T12:30:00Z'],
    ['more digits than milliseconds', '2026-03-01T18:00:00.123999Z', '2026-03-01T18:00:00.123Z'],
    ['a skipped local time, moved forward by the gap', '2026-03-29T02:30', '2026-03-29T01:30:00Z'],
    ['the first of two equal local times', '2025-10-26T02:30', '2025-10-26T00:30:00Z'],
  ])('of a season can begin at %s', (_what, from, instant) => {
    expect(windowsOf(`[{season: s, from: ${from}, to: 2027-01-01}]`, 'Europe/Paris')).toEqual([
      { kind: 'season', name: 's', from: at(instant), to: at('2026-12-31T23:00:00Z') },
    ]);
  });

  it('of a season begin at the first moment of a day without midnight', () => {
    const text = '[{season: s, from: 2018-11-04, to: 2019-01-01}]';
    expect(windowsOf(text, 'America/Sao_Paulo')).toMatchObject([
      { from: at('2018-11-04T03:00:00Z') },
    ]);
  });
});

describe('invalid windows', () => {
  const season = (fields: string) => `[all, {season: s, ${fields}}]`;
  const interval = (fields: string) => `[{interval: i, ${fields}}]`;
  const CRON =
    'minute, hour, day of the month, month and weekday, optionally with seconds in front';
  const TIME =
    'is not a time in the years 0001 to 9999; use a time such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z';
  const FORMS =
    'all, day, week, month, year, {window: day, keep: 30d}, {season: NAME, from: TIME, to: TIME} or {interval: NAME, cron: EXPRESSION, start: TIME}';
  const NAME =
    'a letter, digit or _, then up to 63 letters, digits, _ . or -; quote a name that is a number';

  // prettier-ignore
  it.each<[about: string, windows: string, ...problems: string[]]>([
    ['a misspelt window', '[weak]', 'windows[0]: "weak" is not allowed; use all, day, week, month or year; or {season: NAME, from: TIME, to: TIME}, {interval: NAME, cron: EXPRESSION, start: TIME}; did you mean week?'],
    ['a number', '[7]', `windows[0]: 7 is not allowed; use ${FORMS}`],
    ['an object without a known field', '[{name: s, from: a}]', `windows[0]: {"name":"s","from":"a"} is not allowed; use ${FORMS}`],
    ['all with keep', '[{window: all, keep: 1d}]', 'windows[0].window: "all" is not allowed; use day, week, month or year; "all" never ends, so write it without keep and close'],
    ['all with close', '[{window: all, close: {from: 2026-01-01}}]', 'windows[0].window: "all" is not allowed; use day, week, month or year; "all" never ends, so write it without keep and close'],
    ['a close without from', '[{window: day, close: {grace: 1h}}]', 'windows[0].close: the field "from" is missing; add it'],
    ['an empty close', interval("cron: '0 18 * * 5', start: 2026-01-01, close:"), 'windows[0].close: an empty value is not allowed; use fields such as {from: 2026-01-01, grace: 10m, review: 24h, results: 100}'],
    ['an unknown field of close', '[{window: day, close: {from: 2026-01-01, graze: 1h}}]', 'windows[0].close: unknown field "graze"; use one of from, grace, review, results; did you mean grace?'],
    ['close from a time that is none', season('from: 2026-01-01, to: 2027-01-01, close: {from: soon}'), `windows[1].close.from: "soon" ${TIME}`],
    ['a grace without a unit', '[{window: day, close: {from: 2026-01-01, grace: 10}}]', 'windows[0].close.grace: 10 is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
    ['a review that is neither', '[{window: day, close: {from: 2026-01-01, review: never}}]', 'windows[0].close.review: "never" is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w, or manual'],
    ['no results', '[{window: day, close: {from: 2026-01-01, results: 0}}]', 'windows[0].close.results: 0 is not allowed; use a whole number from 1 to 500'],
    ['too many results', '[{window: day, close: {from: 2026-01-01, results: 501}}]', 'windows[0].close.results: 501 is not allowed; use a whole number from 1 to 500'],
    ['two bad fields of close', season('from: 2026-01-01, to: 2027-01-01, close: {grace: x, results: y}'), 'windows[1].close: the field "from" is missing; add it', 'windows[1].close.grace: "x" is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w', 'windows[1].close.results: "y" is not allowed; use a whole number from 1 to 500'],
    ['an object of no known form with a bad close', '[{name: s, close: {grace: x}}]', `windows[0]: {"name":"s","close":{"grace":"x"}} is not allowed; use ${FORMS}`],
    ['a keep shorter than the default review', '[{window: day, keep: 2d, close: {from: 2026-01-01}}]', 'windows[0].keep: "2d" is shorter than grace + review + 1 day of close; use at least 49h'],
    ['a keep shorter than a day, with a manual review', '[{window: day, keep: 23h, close: {from: 2026-01-01, grace: 0s, review: manual}}]', 'windows[0].keep: "23h" is shorter than grace + review + 1 day of close; use at least 24h'],
    ['a misspelt season', '[{seasons: s, from: 2026-01-01, to: 2027-01-01}]', 'windows[0]: the field "season" is missing; add it', 'windows[0]: unknown field "seasons"; use one of season, from, to, keep, close; did you mean season?'],
    ['an unknown field', '[{window: day, keeep: 1d}]', 'windows[0]: unknown field "keeep"; use one of window, keep, close; did you mean keep?'],
    ['an unknown unit', '[{window: day, keep: 1y}]', 'windows[0].keep: "1y" is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
    ['a keep that is too long', '[{window: day, keep: 99999999w}]', 'windows[0].keep: "99999999w" is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
    ['a day twice', '[day, all, {window: day, keep: 1d}]', 'windows[2]: duplicate window day; use each window once'],
    ['a season twice', '[{season: s, from: 2026-01-01, to: 2026-02-01}, {season: s, from: 2027-01-01, to: 2027-02-01}]', 'windows[1]: duplicate window season:s; use each window once'],
    ['a season without an end', season('from: 2026-01-01'), 'windows[1]: the field "to" is missing; add it'],
    ['a season named by a number', '[{season: 2026, from: 2026-01-01, to: 2027-01-01}]', `windows[0].season: 2026 is not allowed; use ${NAME}`],
    ['a season with a space in its name', '[{season: a b, from: 2026-01-01, to: 2027-01-01}]', `windows[0].season: "a b" is not allowed; use ${NAME}`],
    ['a season that ends before it begins', season('from: 2026-06-01, to: 2026-03-01'), 'windows[1].to: "2026-03-01" is not later than from "2026-06-01"; use a later time'],
    ['an empty season', season('from: 2026-03-01, to: 2026-03-01T00:00'), 'windows[1].to: "2026-03-01T00:00" is not later than from "2026-03-01"; use a later time'],
    ['a day that does not exist', season('from: 2026-02-30, to: 2026-03-01'), `windows[1].from: "2026-02-30" ${TIME}`],
    ['an hour that does not exist', season('from: 2026-03-01T24:00, to: 2027-01-01'), `windows[1].from: "2026-03-01T24:00" ${TIME}`],
    ['the year 0', season('from: 0000-06-01, to: 2027-01-01'), `windows[1].from: "0000-06-01" ${TIME}`],
    ['a year as a time', season('from: 2026, to: 2027-01-01'), 'windows[1].from: 2026 is not allowed; use a time such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z'],
    ['words instead of times', season('from: now, to: soon'), `windows[1].from: "now" ${TIME}`, `windows[1].to: "soon" ${TIME}`],
    ['three cron fields', interval("cron: '0 18 *', start: 2026-01-01"), `windows[0].cron: "0 18 *" has 3 fields; use ${CRON}`],
    ['a cron word', interval("cron: '@daily', start: 2026-01-01"), `windows[0].cron: "@daily" has 1 field; use ${CRON}`],
    ['seven cron fields', interval("cron: '0 0 0 1 1 * 2026', start: 2026-01-01"), `windows[0].cron: "0 0 0 1 1 * 2026" has 7 fields; use ${CRON}`],
    ['a minute 61', interval("cron: '61 * * * *', start: 2026-01-01"), `windows[0].cron: "61 * * * *" is not a cron expression (Constraint error, got value 61 expected range 0-59); use ${CRON}`],
    ['a random minute', interval("cron: 'H/5 * * * *', start: 2026-01-01"), `windows[0].cron: "H/5 * * * *" has an H, which means a random time; use ${CRON}`],
    ['a day that never occurs', interval("cron: '0 0 30 2 *', start: 2026-01-01"), `windows[0].cron: "0 0 30 2 *" is not a cron expression (Invalid explicit day of month definition); use ${CRON}`],
    ['a start after the last time', interval("cron: '0 0 1 1 *', start: 9999-06-01"), 'windows[0].cron: "0 0 1 1 *" has no time after start; use an earlier start'],
    ['a bad start and a bad expression', interval("cron: x, start: y"), `windows[0].start: "y" ${TIME}`, `windows[0].cron: "x" has 1 field; use ${CRON}`],
  ])('are refused: %s', (_about, windows, ...problems) => {
    expect(problemsOf(windows)).toEqual(
      problems.map((problem) => `b.yaml:5: board "arena", ${problem}`),
    );
  });

  it('are refused in a list of more than 64', () => {
    const seasons = (count: number) =>
      `[${Array.from({ length: count }, (_, index) => `{season: s${index}, from: 2026-01-01, to: 2027-01-01}`).join()}]`;
    expect(windowsOf(seasons(64))).toHaveLength(64);
    expect(problemsOf(seasons(65))).toEqual([
      'b.yaml:5: board "arena", windows: 65 entries are too many; use a list of windows, such as [all, week]',
    ]);
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Paris', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'US/Eastern'])(
    'can be %s',
    (timeZone) => {
      expect(problemsOf('[day]', timeZone)).toEqual([]);
    },
  );

  it.each([
    ['Europe/Pari', '; did you mean Europe/Paris?'],
    ['europe/paris', '; did you mean Europe/Paris?'],
    ['utc', '; did you mean UTC?'],
    ['Mars/Olympus', ''],
    ["'+02:00'", ''],
    ['UTC+1', '; did you mean UTC?'],
    ['New York', '; did you mean America/New_York?'],
    ['Kolkatta', ''],
  ])('can not be %s', (timeZone, suggestion) => {
    const shown = JSON.stringify(timeZone.replaceAll("'", ''));
    expect(problemsOf('[{season: s, from: 2026-01-01, to: x}]', timeZone)).toEqual([
      `b.yaml:4: board "arena", timeZone: ${shown} is not a time zone; use an IANA name such as Europe/Paris${suggestion}`,
      'b.yaml:5: board "arena", windows[0].to: "x" is not a time in the years 0001 to 9999; use a time such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z',
    ]);
  });
});
