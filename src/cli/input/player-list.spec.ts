import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readPlayerList, recordOfLine } from './player-list.js';

describe('a list of players', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ranklog-test-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const read = async (text: string, defaults = {}) => {
    const file = path.join(folder, 'list');
    await writeFile(file, text);
    return readPlayerList(file, defaults);
  };

  it('has ids and JSON objects, each player once, with the reason of the first line', async () => {
    const lines = [
      'ada',
      '',
      '{"playerId":"bob","reason":"speed hack","by":"mod-2","kind":"banned","time":"2026"}',
      'bob',
      '{"playerId":"{odd}","reason":null,"board":"cup"}\r',
      ' a b ',
    ];
    const arena = { board: 'arena', reason: 'cheats', by: 'mod-1' };
    expect(await read(lines.join('\n'), arena)).toEqual([
      { ...arena, playerId: 'ada' },
      { ...arena, playerId: 'bob', reason: 'speed hack', by: 'mod-2' },
      { ...arena, playerId: '{odd}' },
      { ...arena, playerId: ' a b ' },
    ]);
  });

  it('takes the boards of the lines if none is given, and keeps one record for each', async () => {
    const line = (board: string) => JSON.stringify({ board, playerId: 'ada' });
    const records = await read([line('arena'), line('cup'), line('cup')].join('\n'));
    expect(records.map(({ board }) => board)).toEqual(['arena', 'cup']);
  });

  it.each([
    ['{"playerId":"ada"', 'the line begins with { and is not a JSON object'],
    ['{"playerId":7}', 'playerId must be a string of 1 to 128 bytes'],
    ['x'.repeat(129), 'playerId must be a string of 1 to 128 bytes'],
    ['{"playerId":"ada","reason":""}', 'reason must be a string of 1 to 256 bytes'],
  ])('refuses the line %s', (line, problem) => {
    expect(recordOfLine(line, { board: 'arena' })).toContain(problem);
  });

  it('names the line that it refuses, and the way out', async () => {
    await expect(read('\nada')).rejects.toThrow(
      'list:2: the line names no board; name one before --file; nothing was sent',
    );
    await expect(readPlayerList('/none', {})).rejects.toThrow("can't read /none");
  });
});
