import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { PROJECT } from '../support/project.js';
import { until } from '../support/instance.js';
import type { Tool } from './tools.js';

export interface Snippet {
  readonly language: string;
  readonly code: string;
}

/** The programs of docs/clients.md by their headings. */
export function readSnippets(): ReadonlyMap<string, Snippet> {
  const sections = readFileSync('docs/clients.md', 'utf8').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = ''] = section.split('\n');
      const [, language = '', code = ''] = /^```(\w+)\n([^]*?)^```$/m.exec(section) ?? [];
      return [heading, { language, code }];
    }),
  );
}

/** A folder for programs, which can import what the project can. */
export class SnippetFolder {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'ranklog-clients-'));

  constructor() {
    symlinkSync(path.join(PROJECT, 'node_modules'), path.join(this.#folder, 'node_modules'));
  }

  /** Runs a program until it has printed `expected`, then kills it. Returns its output. */
  async runUntil(expected: string, snippet: Snippet, tool: Tool): Promise<string> {
    const child = spawn(tool.command, [...tool.args, this.#write(snippet)], {
      env: { ...process.env, ...tool.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group of its own, as a shell starts others
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const ended = new Promise((resolve) => child.on('close', resolve));
    try {
      const isOver = () => output.includes(expected) || child.exitCode !== null;
      await until(isOver, `the program prints ${expected}`);
    } finally {
      if (child.exitCode === null) process.kill(-(child.pid ?? NaN), 'SIGKILL');
      await ended;
    }
    if (output.includes(expected)) return output;
    throw new Error(`the program ended without ${expected}: ${output}${errors}`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write({ language, code }: Snippet): string {
    const isTypeScript = language === 'ts';
    // Java wants the name of the class, which is also fine for all others.
    const file = path.join(this.#folder, `Scores.${isTypeScript ? 'mjs' : language}`);
    writeFileSync(file, isTypeScript ? compiled(code) : code);
    return file;
  }
}

/** A module of TypeScript with decorators as JavaScript. */
function compiled(code: string): string {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}
