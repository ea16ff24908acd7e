import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The project's folder. */
export const PROJECT = path.resolve(import.meta.dirname, '../..');

/** A part of the project in a folder of its own; node_modules is shared. */
export class ProjectCopy {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-copy-'));

  constructor(parts: readonly string[]) {
    for (const part of parts)
      cpSync(path.join(PROJECT, part), path.join(this.folder, part), { recursive: true });
    symlinkSync(path.join(PROJECT, 'node_modules'), path.join(this.folder, 'node_modules'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
