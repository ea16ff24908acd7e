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
  readonly file: string;
  readonly text: string;
}

/** A new file for each rule, which breaks it. */
const VIOLATIONS: readonly Violation[] = [
  { rule: 'no-circular', file: 'libs/board/extra.ts', text: "export * from './extra.js';\n" },
  {
    rule: 'libs-never-import-src',
    file: 'libs/board/extra.ts',
    text: "export * from '../../src/main.js';\n",
  },
  {
    rule: 'product-never-imports-tests',
    file: 'src/extra.ts',
    text: "export * from '../test/support/run-command.js';\n",
  },
  { rule: 'board-is-pure', file: 'libs/board/extra.ts', text: "export * from 'ioredis';\n" },
  {
    rule: 'board-is-the-bottom',
    file: 'libs/board/extra.ts',
    text: "export * from '#contracts';\n",
  },
  {
    rule: 'contracts-import-board-only',
    file: 'libs/contracts/extra.ts',
    text: "export * from '#kafka-batch';\n",
  },
  {
    rule: 'contracts-know-no-client',
    file: 'libs/contracts/extra.ts',
    text: "export * from 'kafkajs';\n",
  },
  {
    rule: 'board-store-knows-no-kafka',
    file: 'libs/board-store/extra.ts',
    text: "export * from '#kafka-batch';\n",
  },
  {
    rule: 'kafka-batch-knows-no-boards',
    file: 'libs/kafka-batch/extra.ts',
    text: "export * from '#board';\n",
  },
  {
    rule: 'client-knows-no-redis',
    file: 'libs/client/extra.ts',
    text: "export * from '#board-store';\n",
  },
  {
    rule: 'libs-are-entered-by-their-imports',
    file: 'src/extra.ts',
    text: "export * from '../libs/board/state.js';\n",
  },
  { rule: 'no-unresolvable', file: 'src/extra.ts', text: "export * from './nowhere.js';\n" },
  {
    rule: 'no-dev-dependencies-in-product',
    file: 'src/extra.ts',
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

  /** Names of the broken rules. */
  async function brokenRules(): Promise<readonly string[]> {
    const args = ['depcruise', 'src', 'libs', '--config', CONFIG, '--output-type', 'json'];
    const { stdout } = await runCommand('npx', ['--no-install', ...args], { cwd: copy.folder });
    const report = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
    return report.summary.violations.map(({ rule }) => rule.name);
  }

  it('are kept by the project as it is', async () => {
    expect(await brokenRules()).toEqual([]);
  });

  it.each(VIOLATIONS)('$rule is noticed when it is broken', async ({ rule, file, text }) => {
    expect(await copy.with(file, text, brokenRules)).toContain(rule);
  });

  it('have a violation here for every rule', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      forbidden: { name: string }[];
    };
    expect(VIOLATIONS.map(({ rule }) => rule)).toEqual(forbidden.map(({ name }) => name));
  });
});
