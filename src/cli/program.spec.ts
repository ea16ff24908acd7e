import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createProgram } from './program.js';

describe('the command line', () => {
  it('is described in docs/reference/commands.md, option by option', () => {
    const documented = readFileSync('docs/reference/commands.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => {
        const [, command = '', , options = ''] = line.split('|').map((cell) => cell.trim());
        return [
          /`(\w+)/.exec(command)?.[1],
          [...options.matchAll(/--[a-z-]+/g)].map(([option]) => option),
        ];
      });
    const commands = createProgram().commands.map((command) => [
      command.name(),
      command.options.map(({ long }) => long),
    ]);
    expect(documented).toEqual(commands);
  });

  it('has a description for every command and option', () => {
    for (const command of createProgram().commands) {
      expect(command.description()).not.toBe('');
      for (const option of command.options) expect(option.description).not.toBe('');
    }
  });
});
