// @ts-check
// To add a contender: add it to the list below. A peer is a process in bench/peers. Say in
// docs/performance.md why it is fair.

import { fileURLToPath } from 'node:url';
import { BenchProcess } from '../process.mjs';
import { figures, mark } from '../meter.mjs';
import { cliOf, measureIngest, measureRebuild } from '../ranklog.mjs';
import { runStreams } from './streams.mjs';

/** @typedef {import('../sandbox.mjs').Sandbox} Sandbox */
/** @typedef {import('../log.mjs').Size} Size */
/**
 * @typedef {object} Contender one run of it fills one row or several
 * @property {Record<string, string>} rows what each row measures, by name
 * @property {number} [share] of the events, for peers that would take minutes
 * @property {boolean} [withHeaders] its events have five headers, as ScoreProducer sends them
 * @property {(sandbox: Sandbox, size: Size) => Promise<Record<string,
 * import('../meter.mjs').Figures>>} run
 */

const NONE = ', publish: { rankChanges: none }';
const WINDOWS = ', windows: [all, month, week, day]';
/** Peers that await each event get fewer events. */
const SHARES = { nest: 0.1, nestRanks: 0.02 };

/** All contenders. @param {{ against: string | undefined }} options @returns {Contender[]} */
export function contenders({ against }) {
  return [
    peer('loop', 'bare kafkajs eachBatch and pipelined ZINCRBY; no ranks, no results'),
    peer('transaction', 'kafkajs copies records in transactions; no Redis'),
    {
      rows: {
        'streams-cold': 'Kafka Streams, exactly_once_v2, exact ranks in memory; just started',
        'streams-warm': 'the same process once more',
      },
      run: runStreams,
    },
    ...ownContenders(undefined, { name: 'ranklog', what: 'ranklog' }),
    ...(against === undefined
      ? []
      : ownContenders(cliOf(against), { name: 'before', what: 'the other checkout' })),
    peer('nest', 'stock Nest @EventPattern, awaited ZINCRBY; a tenth of the events', {
      share: SHARES.nest,
    }),
    peer(
      'nest-ranks',
      'the same with awaited ranks before and after, and emit; a fiftieth of the events',
      {
        ...{ share: SHARES.nestRanks, file: 'nest', args: ['ranks'] },
      },
    ),
  ];
}

/**
 * @param {string | undefined} cli @param {{ name: string, what: string }} names @returns
 * {Contender[]}
 */
function ownContenders(cli, { name, what }) {
  const rebuilt = name === 'ranklog' ? 'rebuild' : `${name}-rebuild`;
  return [
    {
      rows: { [name]: `${what}, a rank change for every event` },
      run: async (sandbox, size) => ({ [name]: await measureIngest(sandbox, size, { cli }) }),
    },
    {
      rows: { [`${name}-headers`]: `${what}, a rank change for every event, of five headers each` },
      withHeaders: true,
      run: async (sandbox, size) => ({
        [`${name}-headers`]: await measureIngest(sandbox, size, { cli }),
      }),
    },
    {
      rows: {
        [`${name}-none`]: `${what}, publish: { rankChanges: none }`,
        [rebuilt]: `${what} boards rebuild, of the same log`,
      },
      run: async (sandbox, size) => ({
        [`${name}-none`]: await measureIngest(sandbox, size, { cli, fields: NONE }),
        [rebuilt]: await measureRebuild(sandbox, size, { cli, fields: NONE }),
      }),
    },
    {
      rows: { [`${name}-4`]: `${what}, a rank change for every event, 4 windows` },
      run: async (sandbox, size) => ({
        [`${name}-4`]: await measureIngest(sandbox, size, { cli, fields: WINDOWS }),
      }),
    },
  ];
}

/**
 * A peer of bench/peers that says itself when it begins and ends.
 * @param {string} name @param {string} what @param {{ share?: number, file?: string, args?:
 * string[] }} [options]
 * @returns {Contender}
 */
function peer(name, what, { share = 1, file = name, args = [] } = {}) {
  return {
    ...{ rows: { [name]: what }, share },
    run: async (sandbox, { events }) => {
      const process = startPeer(sandbox, file, { events, args });
      try {
        const last = process.line(/^last/);
        const [, begun] = await process.line(/^first (\d+)/);
        const from = mark(process.pid);
        await last;
        return { [name]: figures(from, mark(process.pid), events - Number(begun)) };
      } finally {
        await process.end('SIGKILL');
      }
    },
  };
}

/**
 * @param {Sandbox} sandbox @param {string} file @param {{ events?: number, args?: string[] }}
 * [options] events: none for no end
 */
export function startPeer({ name, topics }, file, { events, args = [] } = {}) {
  const program = fileURLToPath(new URL(`../peers/${file}.mjs`, import.meta.url));
  const task = JSON.stringify({ name, topics, events: events ?? null });
  return new BenchProcess([program, task, ...args], process.env);
}
