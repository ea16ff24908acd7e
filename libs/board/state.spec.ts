import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalColumns, reachTime, readStates, sortDirection, stateBytes } from './state.js';

const desc = { name: 'points', update: 'sum', order: 'desc', decimals: 0 } as const;
const asc = { name: 'seconds', update: 'best', order: 'asc', decimals: 3 } as const;

describe('sort direction', () => {
  it('negates a descending column and leaves an ascending one', () => {
    expect(sortDirection(desc, 12)).toBe(-12);
    expect(sortDirection(asc, 12)).toBe(12);
  });

  it.each([0, 1, -1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER])(
    'applied twice gives %d back',
    (value) => {
      expect(sortDirection(desc, sortDirection(desc, value))).toBe(value);
      expect(sortDirection(asc, sortDirection(asc, value))).toBe(value);
    },
  );

  it('never gives -0', () => {
    expect(sortDirection(desc, 0)).toBe(0);
    expect(sortDirection(asc, -0)).toBe(0);
  });
});

describe('states in Redis', () => {
  it.each([1, 2, 3])(
    'are the same bytes again after they were read, %d column(s) each',
    (columns) => {
      const number = fc.maxSafeInteger();
      const column = fc.record({ value: number, time: number, settled: fc.boolean() });
      const states = fc.array(fc.array(column, { minLength: columns, maxLength: columns }));
      fc.assert(
        fc.property(states, (given) => {
          expect(readStates(Buffer.concat(given.map(stateBytes)), columns)).toEqual(given);
        }),
      );
    },
  );
});

it('the reach time is the latest time of the columns', () => {
  const stateOf = (...times: number[]) => times.map((time) => ({ value: 1, time, settled: true }));
  expect(reachTime(stateOf(5, 9, -7))).toBe(9);
  expect(reachTime(stateOf(-5))).toBe(-5);
});

describe('columns as people read them', () => {
  it('are decimals by name, in the direction of the definition', () => {
    expect(decimalColumns({ columns: [desc, asc] }, [-12, 60_250])).toEqual({
      points: '12',
      seconds: '60.250',
    });
  });

  it('include one that is named __proto__', () => {
    const columns = [{ ...desc, name: '__proto__' }, asc];
    const found = Object.entries(decimalColumns({ columns }, [-12, 500]));
    expect(found).toEqual([
      ['__proto__', '12'],
      ['seconds', '0.500'],
    ]);
  });

  it('keep the ends of the range and a zero exact', () => {
    const end = Number.MAX_SAFE_INTEGER;
    expect(decimalColumns({ columns: [desc, asc] }, [end, -end])).toEqual({
      points: '-9007199254740991',
      seconds: '-9007199254740.991',
    });
    expect(decimalColumns({ columns: [desc, asc] }, [0, 0])).toEqual({
      points: '0',
      seconds: '0.000',
    });
  });
});
