import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TooManyVoidsError } from './board-errors.js';
import { parseBoardsFile } from './boards-file.js';
import { definitionHash, definitionText, parseDefinitionText } from './definition-text.js';
import type { BoardDefinition, RecordPlace } from './definition.js';
import { resolveEvent, resolveRecord } from './resolve-event.js';
import {
  changeVoids,
  hasValidVoids,
  isVoided,
  MAX_VOIDS,
  missingVoids,
  withVoids,
} from './voids.js';

const [plain] = parseBoardsFile(
  'boards: {arena: {columns: [{name: points}], deduplicate: 1h}}',
  'b',
) as [BoardDefinition];
const NO_STARTS = new Map<number, number>();
const at = (partition: number, offset: number, timestamp = 1_000): RecordPlace => ({
  ...{ partition, offset, timestamp },
});
const voiding = (...places: RecordPlace[]) =>
  changeVoids(plain, { kind: 'void', places }, NO_STARTS);

/** Few partitions and offsets, so that places meet. */
const placeArbitrary = fc.record({
  partition: fc.nat({ max: 2 }),
  offset: fc.nat({ max: 6 }),
  timestamp: fc.constantFrom(-1, 5, 1_000, 2 ** 63),
});

describe('resolveRecord', () => {
  const input = { playerId: 'p', eventId: 'e', occurredAt: 900, delta: '3', attributes: {} };
  const record = { offset: 7, timestamp: 1_000 };

  it('gives the event of a voided record without views, with its time and id', () => {
    const found = resolveRecord(voiding(at(2, 7)), input, 2, record);
    expect(found).toMatchObject({ ok: true, event: { occurredAt: 900, eventId: 'e', views: [] } });
    const other = resolveRecord(voiding(at(2, 7)), { ...input, playerId: 'q' }, 2, record);
    expect(found.ok && other.ok && found.event.views === other.event.views).toBe(true);
  });

  it.each([
    ['another partition', at(1, 7)],
    ['another offset', at(2, 8)],
    ['a record of another topic at the same offset', at(2, 7, 999)],
  ])('resolves as before what is not voided: a void of %s', (_about, place) => {
    const found = resolveRecord(voiding(place), input, 2, record);
    expect(found).toEqual(resolveEvent(plain, input, 1_000));
  });

  it('refuses a voided record as it did before', () => {
    const bad = { ...input, delta: '0.5' };
    expect(resolveRecord(voiding(at(2, 7)), bad, 2, record)).toEqual(
      resolveEvent(plain, bad, 1_000),
    );
  });
});

describe('the voids of a definition', () => {
  it('follow from all changes, whatever their order within a change', () => {
    const change = fc.record({
      kind: fc.constantFrom('void' as const, 'unvoid' as const),
      places: fc.array(placeArbitrary, { maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        const expected = new Map<string, number>();
        let definition = plain;
        for (const { kind, places } of changes) {
          for (const { partition, offset, timestamp } of places) {
            if (kind === 'void') expected.set(`${partition}/${offset}`, timestamp);
            else expected.delete(`${partition}/${offset}`);
          }
          definition = changeVoids(definition, { kind, places }, NO_STARTS);
        }
        for (let partition = 0; partition <= 2; partition++)
          for (let offset = 0; offset <= 6; offset++)
            for (const timestamp of [-1, 5, 1_000, 2 ** 63])
              expect(isVoided(definition, partition, { offset, timestamp })).toBe(
                expected.get(`${partition}/${offset}`) === timestamp,
              );
        expect(hasValidVoids(definition)).toBe(true);
        expect(parseDefinitionText(definitionText(definition))).toEqual(definition);
        if (expected.size === 0) expect(definitionText(definition)).toBe(definitionText(plain));
      }),
    );
  });

  it('give equal texts and hashes in any order of the places', () => {
    const [one, other] = [
      voiding(at(1, 2), at(0, 9), at(1, 0)),
      voiding(at(1, 0), at(0, 9), at(1, 2)),
    ];
    expect(definitionHash(one)).toBe(definitionHash(other));
    expect(definitionText(one)).toContain('"voids":[[0,9,1000],[1,0,1000],[1,2,1000]]}');
    expect(definitionHash(one)).not.toBe(definitionHash(plain));
  });

  it('lose places that the log has no longer', () => {
    const before = voiding(at(0, 4), at(0, 5), at(1, 4));
    const change = { kind: 'void', places: [at(1, 9)] } as const;
    const { voids } = changeVoids(before, change, new Map([[0, 5]]));
    expect(voids).toEqual([at(0, 5), at(1, 4), at(1, 9)]);
  });

  it('replace a place of an earlier topic at the same offset', () => {
    const again = changeVoids(
      voiding(at(0, 4, 9_000)),
      { kind: 'void', places: [at(0, 4, 8_000)] },
      NO_STARTS,
    );
    expect(again.voids).toEqual([at(0, 4, 8_000)]);
  });

  it('are refused beyond a number of places, and beyond the bytes of their text', () => {
    const many = (count: number, offset: number) =>
      voiding(...Array.from({ length: count }, (_, index) => at(0, offset + index, 10 ** 12)));
    expect(many(MAX_VOIDS, 0).voids).toHaveLength(MAX_VOIDS);
    expect(() => many(MAX_VOIDS + 1, 0)).toThrow(TooManyVoidsError);
    expect(() => many(MAX_VOIDS, 10 ** 14)).toThrow('256 KiB');
  });

  it('can be passed on, and compared', () => {
    const [few, more] = [voiding(at(0, 1)), voiding(at(0, 1), at(0, 2))];
    expect(withVoids(plain, more.voids)).toEqual(more);
    expect(withVoids(plain, [])).toBe(plain);
    expect(definitionText(withVoids(more, []))).toBe(definitionText(plain));
    expect([missingVoids(more, few), missingVoids(few, more)]).toEqual([[at(0, 2)], []]);
    expect(missingVoids(few, voiding(at(0, 1, 2)))).toEqual([at(0, 1)]);
  });

  it.each([
    ['not in order', [at(0, 2), at(0, 1)]],
    ['twice at one offset', [at(0, 1, 5), at(0, 1, 6)]],
    ['a negative offset', [at(0, -1)]],
    ['a partition that is no number', [{ ...at(0, 1), partition: 'x' as unknown as number }]],
    ['a fraction of a timestamp', [at(0, 1, 0.5)]],
  ])('are invalid: %s', (_about, voids) => {
    expect(hasValidVoids({ ...plain, voids })).toBe(false);
  });
});
