import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent, ScoreInput } from '#board';
import { BASE_TIME, timeArbitrary, valueArbitrary, wideTimeArbitrary } from './arbitrary.js';
import { instanceAt } from './oracle-windows.js';
import { resolvePlainly, type SentEvent } from './oracle-resolve.js';

/**
 * Random score events for a board: what its definition asks for, and now and then something that it
 * refuses.
 */

const HOUR = 3_600_000;
const YEAR = 366 * 24 * HOUR;
const REGIONS = ['eu', 'us 1', 'ü=%'];
const MODES = ['duo', ''];
const GUILDS: (string | string[])[] = [
  'red',
  ['red', 'blue'],
  ['blue', 'blue'],
  [],
  ['green', 'red', 'a b'],
];

export function inputArbitrary(
  definition: BoardDefinition,
  players: readonly string[],
  values = valueArbitrary,
): fc.Arbitrary<SentEvent> {
  return fc
    .record({
      playerId: fc.constantFrom(...players),
      numbers: numbersArbitrary(definition, values),
      time: timesArbitrary(definition),
      timed: fc.constantFrom(true, true, true, false),
      ahead: fc.constantFrom(...Array<number>(12).fill(0), 1, HOUR, HOUR + 1),
      arrival: arrivalArbitrary(definition),
      eventId: fc.constantFrom('x', 'x', 'x', 'y', 'two words', undefined),
      attributes: attributesArbitrary,
    })
    .map(({ playerId, numbers, time, timed, ahead, arrival, eventId, attributes }) => ({
      timestamp: timed ? (arrival ?? time - ahead) : time,
      input: {
        playerId,
        ...numbers,
        ...(timed ? { occurredAt: time } : {}),
        ...(eventId === undefined ? {} : { eventId }),
        attributes,
      },
    }));
}

/**
 * Now and then the timestamp of a record that comes when a window closes, or about then; undefined
 * for others.
 */
function arrivalArbitrary(definition: BoardDefinition): fc.Arbitrary<number | undefined> {
  const closings = definition.windows.flatMap((window) => {
    if (window.kind === 'all' || window.close === undefined) return [];
    const instance = instanceAt(window, BASE_TIME + 2, definition);
    return instance === undefined ? [] : [instance.end + window.close.graceMs];
  });
  if (closings.length === 0) return fc.constant(undefined);
  const near = fc
    .tuple(fc.constantFrom(...closings), fc.constantFrom(0, 0, 1, 1, -1, HOUR, YEAR, YEAR))
    .map(([closing, beside]) => closing + beside);
  return fc.option(near, { freq: 2, nil: undefined });
}

/** Random times. The times at which a view expires or an event id is forgotten are frequent. */
function timesArbitrary(definition: BoardDefinition): fc.Arbitrary<number> {
  // Windows other than `all` can have a `keep`: then one event at the end of time would end their
  // other views.
  const expires = definition.windows.some((window) => window.kind !== 'all');
  const usual = expires ? timeArbitrary : wideTimeArbitrary;
  const edges = edgesOf(definition);
  if (edges.length === 0) return usual;
  const edge = fc
    .tuple(fc.constantFrom(...edges), fc.constantFrom(0, 0, 0, -1, 1))
    .map(([time, beside]) => time + beside);
  return fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: edge });
}

function edgesOf(definition: BoardDefinition): number[] {
  const { windows, deduplicateMs } = definition;
  const expiries = windows.flatMap((window) => {
    const instance = instanceAt(window, BASE_TIME + 2, definition);
    return window.kind === 'all' || window.keepMs === undefined || instance === undefined
      ? []
      : [instance.end + window.keepMs];
  });
  const spans = deduplicateMs === undefined ? [] : [deduplicateMs, -deduplicateMs];
  return [...expiries, ...spans.map((span) => BASE_TIME + 2 + span)];
}

/** An event in the board's terms that the board accepts. */
export function eventArbitrary(
  definition: BoardDefinition,
  players: readonly string[],
): fc.Arbitrary<ResolvedEvent> {
  return inputArbitrary(definition, players)
    .map((sent) => resolvePlainly(definition, sent).event)
    .filter((event) => event !== undefined);
}

const many = Array.from({ length: 64 }, (_, index) => `g${index}`);
const attributesArbitrary = fc
  .record({
    region: fc.constantFrom<string | string[]>(...REGIONS, ...REGIONS, ['eu', 'us 1', 'eu']),
    mode: fc.constantFrom(...MODES),
    guild: fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...GUILDS) }, fc.constant(many)),
    without: fc.constantFrom(...Array<string>(30).fill(''), 'region', 'mode', 'guild'),
  })
  .map(({ without, ...attributes }) =>
    Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== without)),
  );

/**
 * The names that the deltas of a board's events can have, each with the fewest decimals of the
 * columns that it feeds.
 */
function inputsOf({ columns }: BoardDefinition): Map<string, number> {
  const inputs = new Map<string, number>();
  for (const { name, from, decimals } of columns)
    for (const input of from === undefined ? [name] : Object.keys(from))
      inputs.set(input, Math.min(inputs.get(input) ?? decimals, decimals));
  return inputs;
}

function numbersArbitrary(
  definition: BoardDefinition,
  values: fc.Arbitrary<number>,
): fc.Arbitrary<Pick<ScoreInput, 'delta' | 'deltas'>> {
  const inputs = [...inputsOf(definition)];
  const summed = definition.columns.every(({ update }) => update === 'sum');
  const deltas = fc
    .tuple(
      fc.tuple(...inputs.map(([, decimals]) => numberArbitrary(decimals, values))),
      fc.subarray(inputs, { minLength: summed ? 0 : inputs.length }),
      fc.constantFrom(...Array<number>(40).fill(0), 1, 2),
    )
    .map(([texts, given, odd]) => {
      const named = inputs.map(([name], index) => [name, texts[index]!] as const);
      const taken = named.filter(([name]) => given.some(([one]) => one === name));
      const oddity: [string, string][] = odd === 1 ? [['other', '1']] : [];
      return { deltas: Object.fromEntries([...(odd === 2 ? taken.slice(1) : taken), ...oddity]) };
    });
  const delta = numberArbitrary(inputs[0]![1], values).map((text) => ({ delta: text }));
  const one = inputs.length === 1;
  return fc.oneof({ weight: one ? 40 : 1, arbitrary: delta }, { weight: 39, arbitrary: deltas });
}

/**
 * A decimal text of a random number of minor units, with as few digits as it needs, or all; now and
 * then `-0`, or a text that the board refuses.
 */
function numberArbitrary(decimals: number, values: fc.Arbitrary<number>): fc.Arbitrary<string> {
  return fc.oneof(
    {
      weight: 100,
      arbitrary: fc.tuple(values, fc.boolean()).map(([minor, all]) => {
        const size = String(Math.abs(minor)).padStart(decimals + 1, '0');
        const fraction = size.slice(size.length - decimals);
        const shown = all ? fraction : fraction.replace(/0+$/, '');
        const whole = size.slice(0, size.length - decimals);
        return `${minor < 0 ? '-' : ''}${whole}${decimals === 0 || shown === '' ? '' : `.${shown}`}`;
      }),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '-0',
        '-0',
        `0.${'0'.repeat(decimals)}1`,
        '9007199254740992',
        '1e3',
      ),
    },
  );
}
