// @ts-check
import { readOptions, wholeNumber } from '../options.mjs';
import { compareLatencies } from './compare-latencies.mjs';
import { compareSizes } from './compare-sizes.mjs';

const values = readOptions('build', {
  events: { type: 'string', default: '1000000' },
  players: { type: 'string', default: '100000' },
  rate: { type: 'string', default: '500' },
  throttle: { type: 'string', default: '5000' },
  seconds: { type: 'string', default: '30' },
  sizes: { type: 'string' },
  json: { type: 'boolean', default: false },
});
const EVENTS = { least: 1_000, most: 100_000_000 };
const events = wholeNumber('events', values.events, EVENTS);
const players = wholeNumber('players', values.players, { least: 1, most: 10_000_000 });

const { text, result } = await measure();
console.log(values.json ? JSON.stringify(result) : text);

async function measure() {
  if (values.sizes !== undefined) {
    const sizes = values.sizes.split(',').map((size) => wholeNumber('sizes', size, EVENTS));
    return compareSizes({ sizes, players });
  }
  const eventsPerSecond = wholeNumber('rate', values.rate, { least: 1, most: 10_000 });
  const throttle = wholeNumber('throttle', values.throttle, { least: 1, most: 1_000_000 });
  const seconds = wholeNumber('seconds', values.seconds, { least: 1, most: 3_600 });
  return compareLatencies({ events, players, eventsPerSecond, throttle, seconds });
}
