import { hash, timingSafeEqual } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import Type from 'typebox';
import { SettingsError, type Settings } from '../../config/settings.js';
import type { Logger } from '../../infra/logger.js';
import { ProblemError } from './problems.js';

const { Optional } = Type;

const Scopes = Type.Enum(['read', 'write', 'operate']);
export type Scope = Type.Static<typeof Scopes>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See `RequireScope`. */
    scope?: Scope | 'none';
  }
}

const Entries = Type.Array(
  Type.Object(
    {
      name: Type.String({ minLength: 1 }),
      token: Optional(Type.String({ pattern: '^[!-~]{16,}$' })),
      sha256: Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
      scopes: Type.Array(Scopes, { minItems: 1 }),
    },
    { additionalProperties: false, minProperties: 3, maxProperties: 3 }, // either token or sha256
  ),
  { minItems: 1 },
);

const WAY_OUT =
  'write a list of { name: TEXT, token: 16 OR MORE LETTERS, DIGITS OR SIGNS (or sha256: ITS SHA-256 IN HEX), scopes: [read, write, operate] }';

/** The tokens of a file. It is read again when it changes; while it can't be used, the tokens stay as they were. */
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
   * Why a request is refused; without `scope`, any known token will do. Compares the token with all
   * known ones, in constant time.
   */
  refusal(authorization = '', scope?: Scope): ProblemError | undefined {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    const digest = digestOf(given ?? '');
    const found = this.#known.filter((token) => timingSafeEqual(token.digest, digest));
    const [token] = given === undefined ? [] : found;
    if (token === undefined)
      return new ProblemError(
        'UNAUTHORIZED',
        'send "authorization: Bearer TOKEN" with a token of RANKLOG_HTTP_TOKENS',
      );
    if (scope === undefined || found.some(({ scopes }) => scopes.includes(scope))) return undefined;
    return new ProblemError('FORBIDDEN', `the token "${token.name}" lacks the scope "${scope}"`);
  }
}

/** The tokens that the settings ask for; undefined: HTTP needs none. @throws SettingsError */
export function tokensOf({ httpTokens, httpHost }: Settings, logger: Logger): Tokens | undefined {
  if (httpTokens !== '') return new Tokens(httpTokens, logger);
  if (/^(localhost|127(\.\d+){3}|::1)$/.test(httpHost)) return undefined;
  throw refused(
    `there is no file of tokens, so RANKLOG_HTTP_HOST "${httpHost}" would let others read all boards; name a file, or set RANKLOG_HTTP_HOST to 127.0.0.1`,
  );
}

const digestOf = (token: string) => hash('sha256', token, 'buffer');

/** The errors show no value of the file, as it could be a token. */
function readTokens(file: string) {
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const validate = new Ajv().compile<Type.Static<typeof Entries>>(Entries);
  let entries: unknown;
  try {
    entries = parse(readFileSync(file, 'utf8'), { logLevel: 'error' });
  } catch (error) {
    const { code = 'BAD_ALIAS' } = error as NodeJS.ErrnoException;
    throw refused(`${file} can't be read (${code}); ${WAY_OUT}`);
  }
  if (validate(entries))
    return entries.map(({ token, sha256 = '', ...entry }) => {
      const digest = token === undefined ? Buffer.from(sha256, 'hex') : digestOf(token);
      return { ...entry, digest };
    });
  const { instancePath = '', message = '' } = validate.errors?.[0] ?? {};
  const place = instancePath.replace(/^\/(\d+)/, (_, index) => `entry ${Number(index) + 1}`);
  throw refused(`${file}: ${place || 'the file'} ${message}; ${WAY_OUT}`);
}

function refused(problem: string): SettingsError {
  return new SettingsError([`RANKLOG_HTTP_TOKENS: ${problem}`]);
}
