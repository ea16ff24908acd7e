import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { COMMANDS } from './redis-rights.js';

it('the commands that ranklog needs are those of its scripts and its client', () => {
  const files = ['libs/board-store', 'src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.spec)\.(ts|lua)$/.test(file))
      .map((file) => readFileSync(path.join(folder, file), 'utf8')),
  );
  const used = files.flatMap((text) => [
    ...[...text.matchAll(/\bcall(?:_in_chunks)?\('([A-Z]+)'/g)].map(([, command = '']) => command),
    ...[...text.matchAll(/\b(?:each_of|scan)\('([A-Z]+)'/g)].map(([, command = '']) => command),
    ...[...text.matchAll(/\bredis\.([a-z]+)\(/g)].map(([, command = '']) => command.toUpperCase()),
  ]);
  // Methods of clients and of Lua's redis that send none of these commands; and CONFIG GET, which
  // is not needed.
  const others =
    /^(CONNECT|DISCONNECT|ON|ONCE|EMIT|CONFIG|CALL|ACL_.*|SETRESP|BREAKPOINT|LOG|PIPELINE|NODES)$/;
  const needed = new Set(used.map((command) => (command === 'MEMORY' ? 'MEMORY|USAGE' : command)));
  expect([...needed].filter((command) => !others.test(command)).sort()).toEqual(
    COMMANDS.filter((command) => command !== 'EVALSHA').sort(),
  );
});
