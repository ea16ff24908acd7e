import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { output } from '../packages/empty-project.js';
import { PROJECT } from '../support/project.js';

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of a Dockerfile: comments are left out, and continued lines are joined. */
export function readDockerfile(text: string): Instruction[] {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, text: rest };
    });
}

/**
 * The value of the last instruction of a name, as JSON.
 * @throws if it is not: a shell would run it then
 */
export function execForm(instructions: readonly Instruction[], name: string): string[] {
  return JSON.parse(instructions.findLast((one) => one.name === name)?.text ?? '') as string[];
}

/**
 * Runs the steps of the Dockerfile in folders, as there may be no Docker: the files of the last
 * stage are in `root`.
 */
export class BuiltImage {
  readonly instructions = readDockerfile(readFileSync('Dockerfile', 'utf8'));
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'ranklog-image-'));
  readonly #stages: string[] = [];
  #workdir = '/';

  get root(): string {
    return path.join(this.#folder, this.#stages.at(-1) ?? '');
  }

  /** `install` runs the steps `npm ci ...`. */
  async build(install: (command: string, folder: string) => Promise<unknown>): Promise<this> {
    for (const { name, text } of this.instructions) {
      if (name === 'FROM') this.#begin(/ AS (\w+)$/.exec(text)?.[1] ?? 'last');
      if (name === 'WORKDIR') mkdirSync(this.#at((this.#workdir = text)), { recursive: true });
      if (name === 'COPY') this.#copy(text.split(' '));
      if (name !== 'RUN') continue;
      for (const command of text.split(' && '))
        if (command.startsWith('npm ci ')) await install(command, this.#at(this.#workdir));
        else await output('sh', ['-c', command], { cwd: this.#at(this.#workdir) });
    }
    return this;
  }

  /** The arguments that run it: absolute paths are those in `root`. */
  entrypoint(): string[] {
    const words = execForm(this.instructions, 'ENTRYPOINT');
    return words.map((word) => (word.startsWith('/') ? this.root + word : word));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #begin(stage: string): void {
    this.#stages.push(stage);
    mkdirSync(path.join(this.#folder, stage));
  }

  #at(place: string): string {
    return path.join(this.root, place);
  }

  #copy(words: readonly string[]): void {
    const stage = /^--from=(.*)/.exec(words[0] ?? '')?.[1];
    const [target = '', ...sources] = words.slice(stage === undefined ? 0 : 1).toReversed();
    for (const source of sources) {
      if (stage === undefined && !isInContext(source)) throw new Error(`${source} is ignored`);
      const from =
        stage === undefined ? path.join(PROJECT, source) : path.join(this.#folder, stage, source);
      const to = this.#at(path.resolve(this.#workdir, target));
      cpSync(from, target.endsWith('/') ? path.join(to, path.basename(source)) : to, {
        recursive: true,
      });
    }
  }
}

/**
 * Whether .dockerignore leaves a file of the project to Docker. It ignores all files but the listed
 * ones.
 */
function isInContext(source: string): boolean {
  return readFileSync('.dockerignore', 'utf8').split('\n').includes(`!${source}`);
}

/** In place of `npm ci`, which takes a minute: links the installed packages. */
export function linkPackages(_: string, folder: string): Promise<void> {
  return symlink(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
}

/** Whether a program is installed here. */
export function hasProgram(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.some((folder) => existsSync(path.join(folder, name)));
}
