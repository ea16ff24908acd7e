import { describe, expect, it } from '@jest/globals';
import { readHeader } from './script-header.js';

const header = (text: string, include = '') =>
  readHeader('a.lua', (file) => (file === 'a.lua' ? text : include));

describe('the header of a script', () => {
  it('lists names, with explanations behind two spaces and in lines that are indented further', () => {
    const text = `-- Does something.
--
-- KEYS  live, shadows,
--       outbox     of the partition
--       views...   by their text,
--                  sorted
-- ARGV  token, board  of the shadow
-- Returns  1
`;
    expect(header(text)).toEqual({
      keys: ['live', 'shadows', 'outbox', 'views...'],
      arguments: ['token', 'board'],
    });
  });

  it('takes in the names of an include, of the same section', () => {
    const include = '-- KEYS  live, facts\n-- ARGV  board\n';
    const text = '-- KEYS  those of read.lua, expiries\n-- ARGV  none\n';
    expect(header(text, include)).toEqual({ keys: ['live', 'facts', 'expiries'], arguments: [] });
  });

  it.each([
    ['-- KEYS  live\n', 'a.lua: the header has no section ARGV in the right form'],
    ['-- KEYS  live\n--     facts\n-- ARGV  none\n', 'a.lua: the header has no section KEYS in the right form'],
    ['-- KEYS  1 live\n-- ARGV  none\n', 'a.lua: "1 live" in section KEYS is no name'],
    ['-- KEYS  live; facts\n-- ARGV  none\n', 'a.lua: "live; facts" in section KEYS is no name'],
    ['-- KEYS  views..., live\n-- ARGV  none\n', 'a.lua: in section KEYS, a list is in front of other names'],
    ['-- KEYS  live\n-- ARGV  live\n', 'a.lua: the header has "live" twice'],
    ['-- KEYS  live\n-- ARGV  those of b.lua\n', 'includes/b.lua: the header has no section ARGV in the right form'],
  ])('is refused in another form: %j', (text, message) => {
    expect(() => header(text)).toThrow(message);
  }); // prettier-ignore
});
