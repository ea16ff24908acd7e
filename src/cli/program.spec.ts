import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from './program.js';

/** Commands that have no inner commands, with their full names. */
function leaves(parent: Command, prefix = ''): { name: string; command: Command }[] {
  return parent.commands.flatMap((command) => {
    const name = prefix + command.name();
    return command.commands.length === 0 ? [{ name, command }] : leaves(command, `${name} `);
  });
}

describe('the command line', () => {
  it('is described in docs/reference/commands.md, option by option', () => {
    const documented = readFileSync('docs/reference/commands.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => {
        const [, command = '', , options = ''] = line.split('|').map((cell) => cell.trim());
        return [
          /`([a-z-]+( [a-z]+)*)/.exec(command)?.[1],
          [...options.matchAll(/--[a-z-]+/g)].map(([option]) => option),
        ];
      });
    const commands = leaves(createProgram()).map(({ name, command }) => [
      name,
      command.options.map(({ long }) => long),
    ]);
    expect(documented).toEqual(commands);
  });

  it('has a description for every command and option', () => {
    for (const { command } of leaves(createProgram())) {
      expect(command.description()).not.toBe('');
      for (const option of command.options) expect(option.description).not.toBe('');
    }
  });
});
