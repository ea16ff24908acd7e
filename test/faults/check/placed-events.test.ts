import { describe, expect, it } from '@jest/globals';
import { definitionHash, parseBoardsFile } from '#board';
import { boardsFile } from '../boards.js';
import type { RunFacts } from './facts.js';
import type { BoardRecord, Judgement, Outcome } from './judgement.js';
import { placedRecords, type PlacedEvent } from './placed-events.js';
import { Reigns } from './reigns.js';

const NOTHING: Outcome = { moved: [] };
const MOVES: Outcome = { moved: ['all'] };

/** One definition, another one, and the first one again, from these times on (ms). */
const TIMES = [1_000, 2_000, 3_000];

/** Where a record is placed that nothing is told of, and that does something by the other definition only. */
function placed(timestamp: number): PlacedEvent | undefined {
  const [first, other] = [[], ['sprint' as const]].map((changed) =>
    parseBoardsFile(boardsFile(changed), 'boards.yaml').filter(({ board }) => board === 'sprint'),
  ) as [Judgement['definition'][], Judgement['definition'][]];
  const known = [...first, ...other];
  const hashes = known.map(definitionHash);
  const flips = TIMES.map((time, index) => {
    const since = time * 1_000;
    return { board: 'sprint', generation: `${since}-${hashes[index % 2]}`, since };
  });
  const facts = { known, flips, rankChanges: [] } as unknown as RunFacts;
  const id = 'topic/0/0';
  const judgements = new Map(
    hashes.map((hash, index) => {
      const outcomes = new Map([[id, index === 0 ? NOTHING : MOVES]]);
      return [hash, { outcomes } as unknown as Judgement];
    }),
  );
  const record = { id, partition: 0, offset: 0, timestamp } as BoardRecord;
  const reigns = Reigns.of('sprint', facts);
  return placedRecords([record], { reigns, judgements, told: new Map(), refused: new Map() })[0];
}

describe('an event of which nothing was told', () => {
  it('was applied by the first definition that it is nothing to since it was written', () => {
    expect(placed(1_500)).toMatchObject({ version: 1_500_000, outcome: NOTHING });
    expect(placed(2_500)).toMatchObject({ version: 3_000_000, outcome: NOTHING });
  });

  it('was not applied before it was written, though the same definition was live before', () => {
    expect(placed(3_500)).toMatchObject({ version: 3_500_000, outcome: NOTHING });
  });
});
