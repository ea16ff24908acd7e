import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ProblemError } from '#problems';
import { RequireScope } from '../http/route.js';

const ROOT = path.dirname(createRequire(import.meta.url).resolve('#package'));
const FILE = path.join(ROOT, 'dist', 'cli', 'page', 'index.html');

/** Serves the page for browsers, one file that vite builds from src/page. It uses this API. */
@ApiExcludeController()
@Controller()
export class PageController {
  #page: Promise<string> | undefined;

  /** The policy lets a browser use only the page's own script and styles, named by their hashes. */
  @RequireScope('none')
  @Get()
  async page(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const page = await (this.#page ??= readFile(FILE, 'utf8').catch(notBuilt));
    void reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policyOf(page),
    });
    return page;
  }
}

function policyOf(page: string): string {
  const scripts = hashesOf(page, 'script');
  const styles = hashesOf(page, 'style');
  return (
    `default-src 'none'; connect-src 'self'; img-src data:; script-src ${scripts}; ` +
    `style-src ${styles}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  );
}

/** The hashes of the texts of all elements with a tag. */
function hashesOf(page: string, tag: string): string {
  const elements = page.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'));
  const hashes = [...elements].map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`);
  return hashes.join(' ');
}

function notBuilt(): never {
  throw new ProblemError('NOT_FOUND', `${FILE} is missing; build the page with "npm run build"`);
}
