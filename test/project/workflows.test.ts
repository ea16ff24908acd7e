import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import semver from 'semver';
import { parse } from 'yaml';
import { ProjectCopy, runCommand } from '../support/project.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly 'node-version'?: string };
}
interface Job {
  readonly uses?: string;
  readonly steps?: readonly Step[];
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
}
interface Workflow {
  readonly on: unknown;
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = '.github/workflows';
const texts = readdirSync(FOLDER).map((file) => readFileSync(path.join(FOLDER, file), 'utf8'));
const workflows = texts.map((text) => parse(text) as Workflow);
const jobs = workflows.flatMap((workflow) => Object.values(workflow.jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);
const { scripts, engines, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  engines: { node: string };
  version: string;
};

/**
 * Whether a command of a workflow is there: a file or npm script of the project, or a program of
 * the runner.
 */
function isThere(command: string): boolean {
  const [program = '', first = '', second = ''] = command.split(/\s+/);
  if (program === 'node') return existsSync(first);
  if (program === 'npm' && first === 'run') return Object.hasOwn(scripts, second);
  return ['npm', 'docker', 'gh', 'echo'].includes(program) || existsSync(program);
}

describe('the workflows', () => {
  it.each(steps.flatMap(({ run }) => (run === undefined ? [] : [run.trim()])))(
    'find what they run: %s',
    (run) => {
      const commands = run.replaceAll(/\\\n\s*/g, '').split(/\n| \| | && /);
      expect(commands.filter((command) => !isThere(command))).toEqual([]);
      expect(run).not.toContain('${{'); // GitHub would paste the value into the command
    },
  );

  it('use other actions by commit, and name the version of each', () => {
    const uses = texts.flatMap((text) => [...text.matchAll(/uses: (.*)/g)].map(([, name]) => name));
    const isLocal = (name = '') => name.startsWith('./') && existsSync(name);
    const isPinned = (name = '') => /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name);
    expect(uses.filter((name) => !isLocal(name) && !isPinned(name))).toEqual([]);
    expect(uses.length).toBeGreaterThan(0);
  });

  it('use versions of Node that the manifests allow', () => {
    const asked = steps.flatMap((step) => step.with?.['node-version'] ?? []);
    const versions = [
      ...asked.filter((range) => range !== '${{ matrix.node }}'),
      ...jobs.flatMap((job) => job.strategy?.matrix.node ?? []),
    ];
    expect(versions.filter((range) => !semver.subset(range, engines.node))).toEqual([]);
    expect(versions).toContain('^20.19.0');
  });

  it('release only when a person starts it and another one approves it', () => {
    const releases = workflows.filter((workflow) => 'release' in workflow.jobs);
    expect(releases).toMatchObject([
      {
        on: 'workflow_dispatch',
        permissions: {},
        jobs: { release: { needs: 'check', environment: 'release' } },
      },
    ]);
  });
});

describe('scripts/release-notes.mjs', () => {
  const before = '# Changelog\n\n## Unreleased\n\n- later\n\n';
  const section = `## ${version} - 2026-11-28\n\n### Added\n\n- a thing\n\n`;
  const after = '## 0.0.1 - 2026-01-01\n\n- earlier\n';

  async function notes(changelog: string, tag: string) {
    const copy = new ProjectCopy(['scripts/release-notes.mjs', 'package.json']);
    writeFileSync(path.join(copy.folder, 'CHANGELOG.md'), changelog);
    const result = await runCommand('node', ['scripts/release-notes.mjs', tag], {
      cwd: copy.folder,
    });
    copy.remove();
    return result;
  }

  it('prints the section of the version', async () => {
    const expected = { exitCode: 0, stdout: '### Added\n\n- a thing\n', stderr: '' };
    expect(await notes(`${before}${section}${after}`, `v${version}`)).toEqual(expected);
    expect(await notes(`${before}${section}`, `v${version}`)).toEqual(expected);
  });

  it.each([
    ['a tag of another version', `${before}${section}`, 'v99.0.0', 'v99.0.0 is not the tag'],
    ['a branch', `${before}${section}`, 'main', 'main is not the tag'],
    ['a version without a section', `${before}${after}`, `v${version}`, 'CHANGELOG.md has no text'],
    ['an empty section', `## ${version} - 2026-11-28\n${after}`, `v${version}`, 'has no text'],
  ])('refuses %s', async (_, changelog, tag, problem) => {
    expect(await notes(changelog, tag)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(problem),
    });
  });
});
