import { describe, expect, it } from '@jest/globals';
import { ArgumentOrder } from './argument-order.js';

const order = new ArgumentOrder('sweep-6', {
  keys: ['live', 'shadow_facts', 'ranking_keys...', 'leaders...'],
  arguments: ['board', 'views...'],
});
const named = {
  views: ['all', Buffer.from('day')],
  board: 'arena',
  leaders: ['l'],
  rankingKeys: ['r1', 'r2'],
  shadowFacts: 'f',
  live: '',
};

describe('the arguments of a script', () => {
  it('come in the order of its header, whatever the order of the names', () => {
    const words = [5, '', 'f', 'r1', 'r2', 'l', 'arena', 'all', Buffer.from('day')];
    expect(order.words(named)).toEqual(words);
    expect(order.words({ ...named, rankingKeys: [], views: [] })).toEqual([
      3,
      '',
      'f',
      'l',
      'arena',
    ]);
  });

  it('are refused if a name is missing', () => {
    const { board, ...others } = named;
    expect(board).toBe('arena');
    expect(() => order.words(others)).toThrow('sweep-6 needs a value for board');
    const { views, ...lists } = named;
    expect(views).toHaveLength(2);
    expect(() => order.words(lists)).toThrow('sweep-6 needs an array for views');
  });

  it('are refused if the header lacks a name', () => {
    const wrong = { ...named, bord: 'arena' };
    expect(() => order.words(wrong)).toThrow('sweep-6 does not take bord');
  });

  it('are refused if a list is given for a value, or a value for a list', () => {
    expect(() => order.words({ ...named, board: ['arena'] })).toThrow('needs a value for board');
    expect(() => order.words({ ...named, views: 'all' })).toThrow('needs an array for views');
  });
});
