import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProjectCopy } from '../support/project-copy.js';
import { runCommand } from '../support/run-command.js';

const CONFIG = 'copy.dependency-cruiser.cjs';
/** The project's rules; but node_modules is a link here, and paths are to be seen as if it was not. */
const CONFIG_OF_A_COPY = `const rules = require('./.dependency-cruiser.cjs');
module.exports = { ...rules, options: { ...rules.options, preserveSymlinks: true } };
`;

interface Violation {
  readonly rule: string;
  readonly folder: string;
  readonly text: string;
}

/** A new file for each rule, which breaks it and has its name. */
const VIOLATIONS: readonly Violation[] = [
  { rule: 'no-circular', folder: 'libs/board', text: "export * from './no-circular.js';\n" },
  {
    rule: 'libs-never-import-src',
    folder: 'libs/board',
    text: "export * from '../../src/main.js';\n",
  },
  {
    rule: 'product-never-imports-tests',
    folder: 'src',
    text: "export * from '../test/support/run-command.js';\n",
  },
  { rule: 'board-is-pure', folder: 'libs/board', text: "export * from 'ioredis';\n" },
  {
    rule: 'board-is-the-bottom',
    folder: 'libs/board',
    text: "export * from '#contracts';\n",
  },
  {
    rule: 'contracts-import-board-only',
    folder: 'libs/contracts',
    text: "export * from '#kafka-batch';\n",
  },
  {
    rule: 'contracts-know-no-client',
    folder: 'libs/contracts',
    text: "export * from 'kafkajs';\n",
  },
  {
    rule: 'board-store-knows-no-kafka',
    folder: 'libs/board-store',
    text: "export * from '#kafka-batch';\n",
  },
  {
    rule: 'kafka-batch-knows-no-boards',
    folder: 'libs/kafka-batch',
    text: "export * from '#board';\n",
  },
  {
    rule: 'client-knows-no-redis',
    folder: 'libs/client',
    text: "export * from '#board-store';\n",
  },
  {
    rule: 'libs-are-entered-by-their-imports',
    folder: 'src',
    text: "export * from '../libs/board/state.js';\n",
  },
  { rule: 'no-unresolvable', folder: 'src', text: "export * from './nowhere.js';\n" },
  {
    rule: 'no-dev-dependencies-in-product',
    folder: 'src',
    text: "export * from 'execa';\n",
  },
];

describe('the layers', () => {
  let copy: ProjectCopy;

  beforeAll(() => {
    copy = new ProjectCopy([
      ...['src', 'libs', 'test/support', 'scripts'],
      ...['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'],
    ]);
    writeFileSync(path.join(copy.folder, CONFIG), CONFIG_OF_A_COPY);
  });
  afterAll(() => copy.remove());

  /** Names of the broken rules, by the file that breaks them. */
  async function brokenRules(): Promise<ReadonlyMap<string, readonly string[]>> {
    const args = ['depcruise', 'src', 'libs', '--config', CONFIG, '--output-type', 'json'];
    const { stdout } = await runCommand('npx', ['--no-install', ...args], { cwd: copy.folder });
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: { from: string; rule: { name: string } }[] };
    };
    const byFile = new Map<string, string[]>();
    for (const { from, rule } of summary.violations)
      byFile.set(from, [...(byFile.get(from) ?? []), rule.name]);
    return byFile;
  }

  it('are kept by the project as it is', async () => {
    expect(await brokenRules()).toEqual(new Map());
  });

  describe('with a file that breaks each rule', () => {
    let broken: ReadonlyMap<string, readonly string[]>;
    beforeAll(async () => {
      for (const { rule, folder, text } of VIOLATIONS)
        writeFileSync(path.join(copy.folder, folder, `${rule}.ts`), text);
      broken = await brokenRules();
    });

    it.each(VIOLATIONS)('$rule is noticed', ({ rule, folder }) => {
      expect(broken.get(`${folder}/${rule}.ts`)).toContain(rule);
    });
  });

  it('have a violation here for every rule', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      forbidden: { name: string }[];
    };
    expect(VIOLATIONS.map(({ rule }) => rule)).toEqual(forbidden.map(({ name }) => name));
  });
});
