import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withLock } from '#servers';
import { SERVERS } from '../../scripts/services/clone.mjs';
import { runCommand } from '../support/project.js';

/** Runs a program and returns its output. @throws unless its exit code is 0 */
export async function output(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(command, args, options);
  if (exitCode === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`);
}

/**
 * Packs ranklog and folders of the project, as for a release. Returns the tarballs: that of
 * ranklog, then those of the folders in their order.
 */
export async function pack(folders: readonly string[], to: string): Promise<string[]> {
  const flags = ['--json', '--pack-destination', to];
  // One at a time: npm packs dist/package, which is made anew each time.
  const printed = await withLock(SERVERS.file('pack.lock'), () =>
    output('npm', ['run', 'package', '--', ...flags, ...folders]),
  );
  // npm prints what it runs, too.
  const packed = JSON.parse(printed.slice(printed.search(/^[[{]$/m))) as
    { filename: string }[] | Record<string, { filename: string }>;
  return Object.values(packed).map(({ filename }) => path.join(to, filename));
}

/** A project of a user, in a folder of its own. */
export class EmptyProject {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-user-'));

  constructor(manifest: object = {}) {
    this.write('package.json', JSON.stringify({ private: true, ...manifest }));
  }

  async install(...packages: readonly string[]): Promise<void> {
    const flags = ['--engine-strict', '--prefer-offline', '--no-audit', '--no-fund'];
    await output('npm', ['install', ...flags, ...packages], { cwd: this.folder });
  }

  /** The names of all installed packages. */
  installed(): string[] {
    const lock = JSON.parse(this.read('package-lock.json')) as { packages: object };
    return Object.keys(lock.packages)
      .filter((place) => place !== '')
      .map((place) => place.replace(/^.*node_modules\//, ''));
  }

  /** Writes a file and runs it. Returns its output. */
  run(file: string, text: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
    this.write(file, text);
    return output(process.execPath, [file], { cwd: this.folder, env });
  }

  write(file: string, text: string): void {
    writeFileSync(path.join(this.folder, file), text);
  }

  read(file: string): string {
    return readFileSync(path.join(this.folder, file), 'utf8');
  }

  /** The names of the files in a folder. */
  list(folder: string): string[] {
    return readdirSync(path.join(this.folder, folder));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
