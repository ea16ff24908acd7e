import type { Oracle } from '../../model/oracle.js';
import { summary, type RunFacts } from './facts.js';

/** Views of which Redis does not hold the very bytes of the oracle. */
export function boardProblems({ definitions, stored }: RunFacts, oracle: Oracle): string[] {
  const wanted = new Map<string, ReturnType<Oracle['bytes']>>(
    definitions.flatMap(({ board }) =>
      oracle.views(board).map((view) => [`${board} ${view}`, oracle.bytes(board, view)] as const),
    ),
  );
  const names = [...new Set([...wanted.keys(), ...stored.keys()])].sort();
  const broken = names.flatMap((name) =>
    difference(name, sorted(wanted.get(name)), sorted(stored.get(name))),
  );
  return summary('views that are not those of the oracle', broken);
}

interface Bytes {
  readonly ranking: readonly { readonly score: string; readonly member: string }[];
  readonly players: readonly (readonly [string, string])[];
}

function sorted(bytes: ReturnType<Oracle['bytes']> | undefined): Bytes {
  const players = Object.entries(bytes?.players ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ranking: bytes?.ranking ?? [], players };
}

function difference(name: string, wanted: Bytes, found: Bytes): string[] {
  for (const part of ['ranking', 'players'] as const) {
    const [a, b] = [wanted[part].map(show), found[part].map(show)];
    const index = a.findIndex((text, place) => text !== b[place]);
    if (index >= 0 || a.length !== b.length) {
      const place = index >= 0 ? index : a.length;
      return [`${name}, ${part} ${place}: ${b[place] ?? 'none'} in place of ${a[place] ?? 'none'}`];
    }
  }
  return [];
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
