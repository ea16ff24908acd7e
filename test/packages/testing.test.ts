import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { DEFAULT_RELEASE, kafkaClasspath } from '#servers';
import { SERVERS } from '../../scripts/services/clone.mjs';
import { until } from '../support/instance.js';
import { EmptyProject, output, pack } from './empty-project.js';

/** The files of docs/testing.md, by the names that the paragraph before each gives. */
function filesOfPage(): Map<string, string> {
  const page = readFileSync('docs/testing.md', 'utf8');
  const files = new Map<string, string>();
  for (const { index, 1: text = '' } of page.matchAll(/^```\w+\n([^]*?)^```$/gm)) {
    const paragraph = page.slice(0, index).trimEnd().split('\n\n').at(-1) ?? '';
    const [, name] = /`([\w./-]+\.\w+)`:$/.exec(paragraph) ?? [];
    if (name !== undefined) files.set(name, text);
  }
  return files;
}

const NEST = ['common', 'core', 'testing'].map((name) => `@nestjs/${name}@11`);
const OTHERS = ['reflect-metadata@0.2.2', 'rxjs@7.8.2', 'kafkajs@2.2.4', 'ioredis@5.11.1'];
const TOOLS = ['jest@30.5.2', '@types/jest@30', '@swc/core@1.16.22', '@swc/jest@0.2.39'];

describe('the project of docs/testing.md', () => {
  const files = filesOfPage();
  const project = new EmptyProject();
  /** No servers are given. */
  const env = { ...process.env, KAFKA_BROKERS: '', REDIS_URL: '' };
  const run = (command: string) => output('sh', ['-c', command], { cwd: project.folder, env });

  beforeAll(async () => {
    mkdirSync(path.join(project.folder, 'src'));
    for (const [name, text] of files) if (!name.startsWith('.github')) project.write(name, text);
    const tarballs = await pack(['./packages/nestjs', './packages/testing'], project.folder);
    await project.install(...tarballs, ...NEST, ...OTHERS, ...TOOLS);
    // As in a second run: Kafka is downloaded already.
    const jars = path.dirname(await kafkaClasspath(SERVERS, DEFAULT_RELEASE));
    const testing = path.join(project.folder, '.ranklog', 'testing');
    mkdirSync(testing, { recursive: true });
    symlinkSync(jars, path.join(testing, path.basename(jars)));
  });
  afterAll(() => project.remove());

  it('throws errors of the classes that @ranklog/nestjs exports', async () => {
    const text = `const nestjs = require('@ranklog/nestjs');
      const { BoardsFileError, RanklogTestingModule, rankChange } = require('@ranklog/nestjs/testing');
      const boards = 'boards: { quiz: { columns: [{ name: points }] } }';
      const thrown = (run) => { try { run(); } catch (error) { return error; } };
      const set = (...args) => thrown(() => new RanklogTestingModule({ boards }).setStandings('quiz', ...args));
      const errors = {
        NoSuchViewError: set([], { window: 'week' }),
        MalformedViewError: set([], { view: 'all club' }),
        InvalidReadError: set([{ playerId: '', score: 1 }]),
        MalformedRecordError: thrown(() => rankChange({ occurredAt: 5 })),
        RanklogError: thrown(() => new RanklogTestingModule({ boards: '?' })),
      };
      const others = Object.keys(errors).filter((name) => !(errors[name] instanceof nestjs[name]));
      console.log(others, errors.RanklogError instanceof BoardsFileError);`;
    expect(await project.run('errors.cjs', text)).toBe('[] true\n');
  });

  it('passes in CI: unit tests without servers, and tests with servers that end', async () => {
    const workflow = parse(files.get('.github/workflows/test.yml') ?? '') as {
      jobs: { test: { steps: { run?: string }[] } };
    };
    const commands = workflow.jobs.test.steps.flatMap(({ run: command }) => command ?? []);
    const [, unit = '', servers = ''] = commands;
    expect(commands).toEqual(['npm ci', unit, servers]); // npm has just installed
    expect(await run(`${unit} 2>&1`)).toContain('Tests:       3 passed, 3 total');
    expect(project.list('.ranklog/testing')).toHaveLength(1); // the jars
    const printed = await run(`${servers} 2>&1`);
    expect(printed).toContain('Tests:       1 passed, 1 total');
    const isUsed = () => project.list('.ranklog/testing').includes('users');
    await until(() => !isUsed(), 'the servers have ended', 20);
    expect(project.list('.ranklog/testing').filter((name) => name.endsWith('.pid'))).toEqual([]);
  });
});
