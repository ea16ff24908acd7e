import { expect, it } from '@jest/globals';
import { parseQuery } from './query-string.js';

const plain = (text: string): unknown => JSON.parse(JSON.stringify(parseQuery(text)));

it('gathers the values of dimensions and columns in maps', () => {
  expect(plain('')).toEqual({});
  expect(plain('limit=2&where.region=eu%2Fwest&where.a.b=+&score.wins=3')).toEqual({
    limit: '2',
    where: { region: 'eu/west', 'a.b': ' ' },
    scores: { wins: '3' },
  });
});

it('keeps repeated values apart, and texts with the name of a map', () => {
  expect(plain('a=1&a=2&where.x=1&where.x=2')).toEqual({ a: ['1', '2'], where: { x: ['1', '2'] } });
  expect(plain('where=1&where.x=2&scores=3')).toEqual({ where: '1', scores: '3' });
});

it('takes any name, and loses none of many', () => {
  const query = parseQuery('__proto__=1&where.__proto__=2&where.constructor=3&where.=4');
  expect(Object.keys(query)).toEqual(['where', '__proto__']);
  expect(Object.entries(query['where'] as object)).toEqual([
    ['__proto__', '2'],
    ['constructor', '3'],
    ['', '4'],
  ]);
  const many = Array.from({ length: 3_000 }, (_, n) => `p${n}=1`).join('&');
  expect(Object.keys(parseQuery(many))).toHaveLength(3_000);
});
