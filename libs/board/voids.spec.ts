import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TooManyVoidsError } from './board-errors.js';
import { parseBoardsFile } from './boards-file.js';
import { definitionHash, definitionText, parseDefinitionText } from './definition-text.js';
import type { BoardDefinition, RecordPlace } from './definition.js';
import { resolveEvent, resolveRecord } from './resolve-event.js';
import { changeVoids, isVoided, MAX_VOIDS, missingVoids, withVoids } from './voids.js';

const [plain] = parseBoardsFile(
  'boards: {arena: {columns: [{name: points}], deduplicate: 1h}}',
  'b',
) as [BoardDefinition];
const at = (partition: number, offset: number, timestamp = 1_000): RecordPlace => ({
  ...{ partition, offset, timestamp },
});
const voiding = (...places: RecordPlace[]) => changeVoids(plain, { kind: 'void', places });

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

  it('gives a retry of a voided record without views, by any record that it retries', () => {
    const retry = { ...input, retryOf: [at(2, 4, 800), at(2, 6, 900)] };
    for (const place of retry.retryOf)
      expect(resolveRecord(voiding(place), retry, 2, record)).toMatchObject({
        ok: true,
        event: { occurredAt: 900, eventId: 'e', views: [] },
      });
    const other = resolveRecord(voiding(at(2, 6, 901), at(1, 4, 800)), retry, 2, record);
    expect(other).toEqual(resolveEvent(plain, input, 1_000));
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
          definition = changeVoids(definition, { kind, places });
        }
        for (let partition = 0; partition <= 2; partition++)
          for (let offset = 0; offset <= 6; offset++)
            for (const timestamp of [-1, 5, 1_000, 2 ** 63])
              expect(isVoided(definition, {}, partition, { offset, timestamp })).toBe(
                expected.get(`${partition}/${offset}`) === timestamp,
              );
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

  it('replace a place of an earlier topic at the same offset', () => {
    const change = { kind: 'void', places: [at(0, 4, 8_000)] } as const;
    const again = changeVoids(voiding(at(0, 4, 9_000)), change);
    expect(again.voids).toEqual([at(0, 4, 8_000)]);
  });

  it('are refused beyond a number, whose longest text fits into a record of Kafka', () => {
    const many = (count: number) =>
      voiding(
        ...Array.from({ length: count }, (_, index) =>
          at(10 ** 9 - 1, 10 ** 14 + index, -(2 ** 63)),
        ),
      );
    expect(definitionText(many(MAX_VOIDS)).length).toBeLessThan(2 ** 19);
    expect(() => many(MAX_VOIDS + 1)).toThrow(TooManyVoidsError);
  });

  it('can be passed on, and compared', () => {
    const [few, more] = [voiding(at(0, 1)), voiding(at(0, 1), at(0, 2))];
    expect(withVoids(plain, more.voids)).toEqual(more);
    expect(withVoids(plain, [])).toBe(plain);
    expect(definitionText(withVoids(more, []))).toBe(definitionText(plain));
    expect([missingVoids(more, few), missingVoids(few, more)]).toEqual([[at(0, 2)], []]);
    expect(missingVoids(few, voiding(at(0, 1, 2)))).toEqual([at(0, 1)]);
  });
});
