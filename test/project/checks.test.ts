import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROJECT, ProjectCopy } from '../support/project-copy.js';
import { runCommand } from '../support/run-command.js';

const FILE = 'libs/board/extra.ts';
const GOOD = 'export const half = 1 / 2;\n';

describe('npm run check', () => {
  let copy: ProjectCopy;

  beforeAll(() => {
    copy = new ProjectCopy([
      ...['libs', 'package.json', 'tsconfig.json', 'eslint.config.mjs'],
      ...['.prettierrc.json', '.prettierignore'],
    ]);
  });
  afterAll(() => copy.remove());

  /** Runs the tool of a step, as package.json calls it, on `text` as a file of the project. */
  function runStep(step: string, text: string) {
    const [tool = '', ...args] = (scripts()[step] ?? '').split(' ');
    const narrowed = args.map((arg) => (arg === '.' && step !== 'types' ? FILE : arg));
    return copy.with(FILE, text, () =>
      runCommand('npx', ['--no-install', tool, ...narrowed], { cwd: copy.folder }),
    );
  }

  it('runs format, lint, layers and types, and so does .ci/run', () => {
    const steps = [...(scripts()['check'] ?? '').matchAll(/npm run (\S+)/g)].map(
      ([, name]) => name,
    );
    expect(steps).toEqual(['format:check', 'lint', 'layers', 'types']);
    const [, ci = ''] = /^check\(\) \{$(.*?)^\}$/ms.exec(readProject('.ci/run')) ?? [];
    const stepsOfCi = [...ci.matchAll(/npm run --silent ([\w:]+)/g)].map(([, name]) => name);
    expect(stepsOfCi.sort()).toEqual(steps.sort());
  });

  it.each([
    { step: 'format:check', bad: 'export const half = 1/2\n', words: [FILE] },
    {
      step: 'lint',
      bad: `export function f(half: any) {\n${'half += 1;\n'.repeat(41)}return half;\n}\n`,
      words: ['no-explicit-any', 'max-lines-per-function'],
    },
    { step: 'types', bad: "export const half: number = '1/2';\n", words: ['TS2322'] },
  ])(
    '$step refuses what breaks it and takes the rest',
    async ({ step, bad, words }) => {
      const refused = await runStep(step, bad);
      for (const word of words) expect(refused.stdout + refused.stderr).toContain(word);
      expect(refused.exitCode).not.toBe(0);

      expect(await runStep(step, GOOD)).toMatchObject({ exitCode: 0 });
    },
    400_000,
  );

  it('a warning of lint counts', () => {
    expect(scripts()['lint']).toContain('--max-warnings 0');
  });
});

function scripts(): Record<string, string> {
  return (JSON.parse(readProject('package.json')) as { scripts: Record<string, string> }).scripts;
}

function readProject(file: string): string {
  return readFileSync(path.join(PROJECT, file), 'utf8');
}
