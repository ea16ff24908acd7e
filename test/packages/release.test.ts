import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ProjectCopy, runCommand, type CommandResult } from '../support/project.js';
import { output } from './empty-project.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const NAMES = ['client', 'http', 'nestjs', 'reader', 'testing'];
const ADDRESS = 'https://github.com/example/ranklog';
const ENV = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'example/ranklog',
  GITHUB_REF_NAME: `v${version}`,
};

/** A registry that has one package only. */
async function startRegistry(published: string): Promise<Server> {
  const server = createServer((request, response) => {
    const isKnown = decodeURIComponent(request.url ?? '') === `/${published}`;
    const versions = { [version]: { name: published, version } };
    const known = { name: published, 'dist-tags': { latest: version }, versions };
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? known : { error: 'not found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The commands of the job `release`, but for those that need a network or Docker. */
function releaseCommands(): string[] {
  const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8')) as {
    jobs: { release: { steps: { run?: string }[] } };
  };
  const commands = jobs.release.steps.flatMap(({ run }) => run ?? []);
  return commands.filter((run) => !/^(npm ci|echo|docker|gh) /.test(run));
}

describe('a release', () => {
  let copy: ProjectCopy;
  let registry: Server;
  const results: CommandResult[] = [];

  beforeAll(async () => {
    copy = new ProjectCopy([
      ...['libs', 'src', 'scripts', 'schemas', 'packages', 'docs', 'deploy', 'monitoring'],
      ...['examples', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
      ...['README.md', 'LICENSE', '.gitignore', 'docker-compose.yml'],
    ]);
    const changelog = `# Changelog\n\n## ${version} - 2026-11-28\n\n- a thing\n`;
    writeFileSync(path.join(copy.folder, 'CHANGELOG.md'), changelog);
    await output('git', ['init', '--quiet'], { cwd: copy.folder });
    await output('git', ['add', '.'], { cwd: copy.folder });
    registry = await startRegistry('@ranklog/http');
    const { port } = registry.address() as AddressInfo;
    for (const command of releaseCommands()) {
      const publishes = command.includes('publish.mjs');
      const dryRun = publishes && {
        npm_config_dry_run: 'true',
        npm_config_registry: `http://127.0.0.1:${port}`,
      };
      const env = { ...process.env, ...ENV, RUNNER_TEMP: copy.folder, ...dryRun };
      results.push(await runCommand('bash', ['-e', '-c', command], { cwd: copy.folder, env }));
    }
  });
  afterAll(() => {
    registry.close();
    copy.remove();
  });

  const tarball = (name: string) => `ranklog-${name === '' ? '' : `${name}-`}${version}.tgz`;

  it('publishes all packages but those that npm has', () => {
    expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map(() => 0));
    const { stdout = '', stderr = '' } = results.at(-1) ?? {};
    expect(stdout.trim().split('\n').sort()).toEqual(
      [
        `+ @ranklog/client@${version}`,
        `+ @ranklog/nestjs@${version}`,
        `+ @ranklog/reader@${version}`,
        `+ @ranklog/testing@${version}`,
        `+ ranklog@${version}`,
        `@ranklog/http@${version} is published already`,
      ].sort(),
    );
    expect(stderr.match(/with tag latest and public access \(dry-run\)/g)).toHaveLength(5);
    expect(stderr).not.toContain('auto-corrected'); // npm found no mistake in a manifest
  });

  it.each(['', ...NAMES])('names the repository in the manifest of ranklog %s', async (name) => {
    const args = ['-xzOf', tarball(name), 'package/package.json'];
    const manifest: unknown = JSON.parse(await output('tar', args, { cwd: copy.folder }));
    const directory = name === '' ? {} : { directory: `packages/${name}` };
    expect(manifest).toMatchObject({
      version,
      repository: { type: 'git', url: `git+${ADDRESS}.git`, ...directory },
      bugs: { url: `${ADDRESS}/issues` },
      homepage: expect.stringContaining(`${ADDRESS}${name === '' ? '' : `/tree/HEAD/packages/`}`),
      keywords: expect.arrayContaining(['leaderboard']),
      publishConfig: { access: 'public', provenance: true },
    });
  });

  it('has nothing in the packages but what users need', async () => {
    const contents = new Map<string, string[]>();
    for (const name of ['', ...NAMES]) {
      const listed = await output('tar', ['-tzf', tarball(name)], { cwd: copy.folder });
      const files = listed.trim().split('\n');
      const parts = files.map((file) => file.split('/')[1] ?? '');
      contents.set(name, [...new Set(parts)].sort());
    }
    const library = ['LICENSE', 'README.md', 'dist', 'package.json'];
    expect(Object.fromEntries(contents)).toEqual({
      '': [
        ...['LICENSE', 'README.md', 'deploy', 'dist', 'docker-compose.yml', 'docs', 'examples'],
        ...['monitoring', 'package.json', 'sbom.cdx.json', 'schemas'],
      ],
      ...Object.fromEntries(NAMES.map((name) => [name, library])),
    });
  });

  it('takes its notes from the changelog', () => {
    expect(readFileSync(path.join(copy.folder, 'notes.md'), 'utf8')).toBe('- a thing\n');
  });
});
