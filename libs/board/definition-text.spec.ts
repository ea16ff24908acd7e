import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from './boards-file.js';
import type { BoardDefinition } from './definition.js';
import { definitionHash, definitionText, parseDefinitionText } from './definition-text.js';

const football: BoardDefinition = {
  board: 'football',
  columns: [
    { name: 'points', update: 'sum', order: 'desc', decimals: 0 },
    { name: 'seconds', update: 'best', order: 'asc', decimals: 3 },
  ],
  ties: 'earliest',
  windows: ['all'],
  dimensions: [[], ['league', 'season']],
  maxAheadMs: 3_600_000,
};

describe('the text of a definition', () => {
  it('is the documented one', () => {
    expect(definitionText(football)).toBe(
      '{"board":"football","columns":[{"name":"points","update":"sum","order":"desc","decimals":0},' +
        '{"name":"seconds","update":"best","order":"asc","decimals":3}],"ties":"earliest","windows":["all"],' +
        '"dimensions":[[],["league","season"]],"maxAheadMs":3600000}',
    );
    expect(definitionHash(football)).toBe('88215c111055');
  });

  it('reads back as the definition', () => {
    expect(parseDefinitionText(definitionText(football))).toEqual(football);
  });

  it('is the same whichever way the definition was written', () => {
    const short = `boards: {football: {columns: [{name: points}, {decimals: 3, order: asc, update: best, name: seconds}],
      dimensions: [[], [league, season]]}}`;
    const long = `boards: {football: {maxAhead: 60m, dimensions: [[], [league, season]], windows: [all], ties: earliest,
      columns: [{name: points, decimals: 0, order: desc, update: sum}, {name: seconds, update: best, order: asc, decimals: 3}]}}`;
    const texts = [short, long].flatMap((text) => parseBoardsFile(text, 'x').map(definitionText));
    expect(texts).toEqual([definitionText(football), definitionText(football)]);
  });

  it.each<[what: string, changed: Partial<BoardDefinition>]>([
    ['name', { board: 'Football' }],
    ['columns', { columns: football.columns.slice(0, 1) }],
    ['order of columns', { columns: [...football.columns].reverse() }],
    ['ties', { ties: 'latest' }],
    ['dimensions', { dimensions: [[], ['season', 'league']] }],
    ['maxAhead', { maxAheadMs: 0 }],
  ])('has another hash with another %s', (_what, changed) => {
    expect(definitionHash({ ...football, ...changed })).not.toBe(definitionHash(football));
  });
});
