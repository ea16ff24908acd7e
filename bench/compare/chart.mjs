// @ts-check
import { median } from '../apply/measure.mjs';
import { allCpu } from '../meter.mjs';
import { count } from './table.mjs';

const LABEL = 110;
const BAR = 240;
const VALUE = 70;
const ROW = 24;
const TOP = 56;
const PARTS = /** @type {const} */ (['own', 'redis', 'kafka']);
const NAMES = { own: 'own process', redis: 'Redis', kafka: 'Kafka' };
/** Longer bars are cut: a peer that needs 50 times the CPU would make all others invisible. */
const MOST_OF_MEDIAN = 4;
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .end { text-anchor: end }
  .head { font-weight: 600 }
  .rate { fill: #6e7781 } .own { fill: #2f81f7 } .redis { fill: #d1242f } .kafka { fill: #bf8700 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .rate { fill: #8b949e } }`;

/** @typedef {import('./rates.mjs').Row} Row */

/** A bar chart of rates and CPU per event, as SVG. @param {Row[]} rows */
export function chart(rows) {
  const cpus = rows.map((row) => allCpu(row.median));
  const mostCpu = Math.min(Math.max(...cpus), MOST_OF_MEDIAN * median(cpus));
  const mostRate = Math.max(...rows.map((row) => row.median.rate));
  const second = LABEL + BAR + VALUE;
  const width = second + BAR + VALUE;
  const height = TOP + rows.length * ROW + 8;
  const bars = rows.map(({ name, median: figures }, index) => {
    const y = TOP + index * ROW;
    return [
      text(LABEL - 8, y, name, 'end'),
      rect('rate', LABEL, y, (BAR * figures.rate) / mostRate),
      text(LABEL + (BAR * figures.rate) / mostRate + 5, y, count(figures.rate)),
      ...stack(figures, { x: second, y, most: mostCpu }),
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>Rate and CPU per event of each contender</title><style>${STYLE}</style>`,
    text(LABEL, 0, 'events/s', 'head'),
    text(second, 0, 'µs of CPU per event', 'head'),
    ...PARTS.map((part, index) => legend(part, second + index * 105)),
    ...bars,
    '</svg>\n',
  ].join('\n');
}

/** @param {Row['median']} figures @param {{ x: number, y: number, most: number }} place */
function stack(figures, { x, y, most }) {
  let at = 0;
  const parts = PARTS.map((part) => {
    const end = Math.min(BAR, at + (BAR * (figures[part] || 0)) / most);
    const bar = rect(part, x + at, y, end - at);
    at = end;
    return bar;
  });
  const cut = allCpu(figures) > most ? '… ' : '';
  return [...parts, text(x + at + 5, y, `${cut}${count(allCpu(figures))}`)];
}

/** @param {(typeof PARTS)[number]} part @param {number} x */
function legend(part, x) {
  return `${rect(part, x, 22, 10)}\n${text(x + 15, 22, NAMES[part])}`;
}

/** @param {string} kind @param {number} x @param {number} y @param {number} width */
function rect(kind, x, y, width) {
  return (
    `<rect class="${kind}" x="${x.toFixed(1)}" y="${y + 4}" width="${width.toFixed(1)}" ` +
    'height="14"/>'
  );
}

/** @param {number} x @param {number} y @param {string} content @param {string} [kind] */
function text(x, y, content, kind) {
  const style = kind === undefined ? '' : ` class="${kind}"`;
  return `<text${style} x="${x.toFixed(1)}" y="${y + 15}">${content}</text>`;
}
