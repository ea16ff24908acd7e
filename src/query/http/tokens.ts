import { hash, timingSafeEqual } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { createRequire } from 'node:module';
import { validateSync } from 'class-validator';
import { ProblemError } from '#problems';
import { SettingsError } from '../../config/settings.js';
import type { Logger } from '../../infra/logger.js';
import { TokenEntry, type Scope } from '../dto/token-entry.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See `RequireScope`. */
    scope?: Scope | 'none';
  }
  interface FastifyRequest {
    /** The name of the request's token. Missing if the service or the route needs no token. */
    tokenName?: string;
  }
}

const FIELDS = Object.keys(new TokenEntry());

const WAY_OUT =
  'write a list of { name: TEXT, token: 16 OR MORE LETTERS, DIGITS OR SIGNS (or sha256: ITS ' +
  'SHA-256 IN HEX), scopes: [read, write, operate] }';

/** The tokens of a file. Reads a changed file again; keeps the old tokens if it is invalid. */
export class Tokens {
  #known: ReturnType<typeof readTokens>;

  /** @throws SettingsError */
  constructor(file: string, logger: Logger) {
    this.#known = readTokens(file);
    watchFile(file, { interval: 1_000, persistent: false }, () => {
      try {
        this.#known = readTokens(file);
      } catch (error) {
        logger.error(`${(error as Error).message}; the tokens stay as they were`);
      }
    });
  }

  /**
   * The name of the token of a request; without `scope`, any known token is enough. Compares the
   * token with all known tokens, in constant time.
   * @throws ProblemError UNAUTHORIZED, or FORBIDDEN if the token lacks the scope
   */
  nameOf(authorization = '', scope?: Scope): string {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    const digest = digestOf(given ?? '');
    const found = this.#known.filter((token) => timingSafeEqual(token.digest, digest));
    const [token] = given === undefined ? [] : found;
    if (token === undefined)
      throw new ProblemError(
        'UNAUTHORIZED',
        'send "authorization: Bearer TOKEN" with a token of RANKLOG_HTTP_TOKENS',
      );
    if (scope === undefined) return token.name;
    const allowed = found.find(({ scopes }) => scopes.includes(scope));
    if (allowed !== undefined) return allowed.name;
    throw new ProblemError('FORBIDDEN', `the token "${token.name}" lacks the scope "${scope}"`);
  }
}

const digestOf = (token: string) => hash('sha256', token, 'buffer');

/**
 * Reads the tokens. Errors show no value and no field name of the file, as these could be tokens.
 * @throws SettingsError
 */
function readTokens(file: string) {
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  let entries: unknown;
  try {
    entries = parse(readFileSync(file, 'utf8'), { logLevel: 'error' });
  } catch (error) {
    const { code = 'BAD_ALIAS' } = error as NodeJS.ErrnoException;
    throw refused(`${file} can't be read (${code})`);
  }
  if (!Array.isArray(entries) || entries.length === 0)
    throw refused(`${file}: the file must be a list that is not empty`);

  return entries.map((value: unknown, index) => {
    const place = `${file}: entry ${index + 1}`;
    const { name, token, sha256 = '', scopes } = entryOf(value, place);
    const digest = token === undefined ? Buffer.from(sha256, 'hex') : digestOf(token);
    return { name, digest, scopes };
  });
}

/** Checks names before values, as class-validator would show the name of an unknown field. */
function entryOf(value: unknown, place: string): TokenEntry {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused(`${place}: it must be a map of fields`);
  if (Object.keys(value).some((name) => !FIELDS.includes(name)))
    throw refused(`${place}: it must have no other fields than ${FIELDS.join(', ')}`);
  const entry = Object.assign(new TokenEntry(), value);
  const [error] = validateSync(entry);
  if (error === undefined) return entry;
  const [problem = ''] = Object.values(error.constraints ?? {});
  throw refused(`${place}: ${problem}`);
}

function refused(problem: string): SettingsError {
  return new SettingsError([`RANKLOG_HTTP_TOKENS: ${problem}; ${WAY_OUT}`]);
}
