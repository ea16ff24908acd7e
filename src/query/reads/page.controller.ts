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

/**
 * The page for browsers: one file that vite makes from src/page. It reads boards through this API.
 */
@ApiExcludeController()
@Controller()
export class PageController {
  #page: Promise<string> | undefined;

  /** Its own script and styles, named by their hashes, are the only ones that a browser runs. */
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
  const own = (tag: string) =>
    [...page.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))]
      .map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`)
      .join(' ');
  return (
    `default-src 'none'; connect-src 'self'; img-src data:; script-src ${own('script')}; ` +
    `style-src ${own('style')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  );
}

function notBuilt(): never {
  throw new ProblemError('NOT_FOUND', `${FILE} is missing; build the page with "npm run build"`);
}
