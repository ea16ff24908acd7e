import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import ts from 'typescript';
import { BoardReader } from '#board-store';

const readme = readFileSync('README.md', 'utf8');
const firstBoard = readFileSync('docs/first-board.md', 'utf8');
const shellBlocks = (page: string) =>
  [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);

describe('README.md', () => {
  it('has at most 110 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(111);
  });

  it('names the demo and the tests first, and package.json has both', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
    expect(shellBlocks(readme)[0]).toBe('npm run demo -- --serve\nnpm run demo\nnpm test\n');
    expect(scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
  });

  const pages = ['README.md', 'docs/first-board.md', 'docs/reading.md', 'docs/clients.md'];
  const examples = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)].map(
      ([, code = ''], index) => ({ page, index, code }),
    ),
  );

  it.each(examples)('shows code in $page that compiles ($index)', ({ code }) => {
    const file = path.resolve('test/project/readme-example.ts');
    const { config } = ts.readConfigFile('tsconfig.json', (name) => ts.sys.readFile(name)) as {
      config: unknown;
    };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
    const host = ts.createCompilerHost(options);
    const readFile = host.readFile.bind(host);
    const declared = [
      "declare const kafka: import('kafkajs').Kafka;\n",
      "declare const redis: import('ioredis').Redis;\n",
    ]
      .filter((line) => !code.includes(line.slice('declare '.length, line.indexOf(':'))))
      .join('');
    const ours = code
      .replaceAll("'@ranklog/client'", "'#client'")
      .replaceAll("'@ranklog/reader'", "'#board-store'");
    const example = declared + ours;
    const overlaid: ts.CompilerHost = {
      ...host,
      fileExists: (name) => name === file || host.fileExists(name),
      readFile: (name) => (name === file ? example : readFile(name)),
      getSourceFile: (name, target) =>
        name === file
          ? ts.createSourceFile(name, example, target)
          : host.getSourceFile(name, target),
    };
    const program = ts.createProgram([file], options, overlaid);
    const problems = program.getSemanticDiagnostics(program.getSourceFile(file));
    expect(problems.map(({ messageText }) => messageText)).toEqual([]);
  });

  it('links to files that exist', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
    const missing = links.filter(
      (link) => !link.startsWith('http') && spawnSync('test', ['-e', link]).status !== 0,
    );
    expect(missing).toEqual([]);
  });
});

describe('docs/first-board.md', () => {
  it('shows commands for a first board, which work and print what the page shows', () => {
    const name = `test-${randomUUID().slice(0, 8)}`;
    const script = (shellBlocks(firstBoard)[0] ?? '').replaceAll(
      '/tmp/arena',
      path.join(tmpdir(), name),
    );
    const env = {
      ...process.env,
      RANKLOG_TOPIC_PREFIX: name,
      RANKLOG_GROUP: name,
      RANKLOG_REDIS_PREFIX: name,
      RANKLOG_HTTP_PORT: '0',
      RANKLOG_OPERATIONS_PORT: '0',
    };
    const { stdout, stderr, status } = spawnSync('bash', ['-c', `set -m\nset -e\n${script}`], {
      env,
      encoding: 'utf8',
      timeout: 200_000,
    });

    expect(status === 0 ? '' : stderr).toBe('');
    const shown = /The first table:\n\n```\n([^]*?)```/.exec(firstBoard)?.[1] ?? 'nothing';
    expect(stdout).toContain(shown);
    expect(stdout).toContain('"view": "all region=eu"');
    expect(stdout).toMatch(/ada {2}all region=eu {2}new -> 1 {2}score 1200/);
  });
});

describe('docs/reading.md', () => {
  it('names every call of a reader', () => {
    const page = readFileSync('docs/reading.md', 'utf8');
    const reader = new BoardReader({ redis: new Redis({ lazyConnect: true }) });
    const others = Object.getOwnPropertyNames(BoardReader.prototype).slice(1);
    const calls = [...Object.keys(reader), ...others];
    expect(calls).toContain('standings');
    expect(calls.filter((call) => !page.includes(`${call}(`))).toEqual([]);
  });
});

it('docs/tour.md names files that exist', () => {
  const tour = readFileSync('docs/tour.md', 'utf8');
  const files = [...tour.matchAll(/`((?:src|libs)\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

describe('docs/glossary.md', () => {
  const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout;
  const rows = readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| ([^|]+) \| [^-]/gm);
  const words = [...rows].flatMap(([, row = '']) => row.trim().split(/, /)).slice(1);

  it.each(words)('has "%s", which the code uses', (word) => {
    const name = word.replaceAll(' ', '[ _-]?');
    expect(git('grep', '-liE', name, '--', 'src', 'libs')).not.toBe('');
  });

  it('has one word for one thing: the words that it replaced occur nowhere', () => {
    const others = '\\b(watermark|flip(s|ped)?|heal(s|ed|ing)?|abandon(s|ed)?|distrust)\\b';
    const places = ['src', 'libs', 'docs', 'test', 'bench', 'README.md', ':!test/project'];
    expect(git('grep', '-nwiE', others, '--', ...places)).toBe('');
  });
});
