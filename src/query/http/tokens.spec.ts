import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, unwatchFile, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { loggerTo } from '../../../test/support/loggers.js';
import { SettingsError, type Settings } from '../../config/settings.js';
import { Tokens, tokensOf } from './tokens.js';

const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-tokens-'));
const file = path.join(folder, 'tokens.yaml');
const SECRET = 'hunter2-hunter2-hunter2';
const SHA256 = createHash('sha256').update(SECRET).digest('hex');

describe('tokens', () => {
  const logged: string[] = [];
  const logger = loggerTo((message) => logged.push(message));
  const tokens = (text: string) => {
    writeFileSync(file, text);
    return new Tokens(file, logger);
  };
  afterEach(() => unwatchFile(file));
  afterAll(() => rmSync(folder, { recursive: true }));
  const codeOf = (known: Tokens, header: string | undefined, scope: 'read' | 'write' = 'read') =>
    known.refusal(header, scope)?.code;

  it('are compared with all of the file, as text or by their SHA-256, and refuse other scopes', () => {
    const known = tokens(
      `- { name: page, token: ${SECRET}-1, scopes: [read] }\n- { name: game, sha256: ${SHA256}, scopes: [read, write] }`,
    );
    expect(codeOf(known, `Bearer ${SECRET}`, 'write')).toBeUndefined();
    expect(codeOf(known, `bearer  ${SECRET}-1`)).toBeUndefined();
    expect(codeOf(known, `Bearer ${SECRET}-1`, 'write')).toBe('FORBIDDEN');
    expect(known.refusal(`Bearer ${SECRET}-1`, 'operate')?.message).toBe(
      'the token "page" lacks the scope "operate"',
    );
    for (const wrong of [`Bearer ${SECRET}-2`, `Basic ${SECRET}`, SECRET, 'Bearer', 'Bearer ', ''])
      expect(codeOf(known, wrong)).toBe('UNAUTHORIZED');
    expect(codeOf(known, undefined)).toBe('UNAUTHORIZED');
  });

  it('never accept a request without a token, even if the file has the SHA-256 of nothing', () => {
    const ofNothing = createHash('sha256').update('').digest('hex');
    const known = tokens(`- { name: a, sha256: ${ofNothing}, scopes: [read] }`);
    expect([codeOf(known, undefined), codeOf(known, 'Bearer ')]).toEqual(
      Array(2).fill('UNAUTHORIZED'),
    );
  });

  it('of two entries with one token have the scopes of both', () => {
    const entry = (scope: string) => `- { name: ${scope}, token: ${SECRET}, scopes: [${scope}] }\n`;
    const known = tokens(entry('read') + entry('write'));
    expect(codeOf(known, `Bearer ${SECRET}`, 'write')).toBeUndefined();
    expect(codeOf(known, `Bearer ${SECRET}`, 'read')).toBeUndefined();
  });

  it('are read again when the file changes; stay as they were while it has problems', async () => {
    const known = tokens(`- { name: a, token: ${SECRET}, scopes: [read] }`);
    // Again and again: the file is first looked at after the tokens are there.
    const spoil = () =>
      writeFileSync(file, `- { name: a, token: short, scopes: [read] } # ${SECRET}`);
    const isRefused = () => logged.some((line) => line.endsWith('the tokens stay as they were'));
    await eventually(() => (spoil(), isRefused()), 'the file is refused', 30);
    expect(codeOf(known, `Bearer ${SECRET}`)).toBeUndefined();
    writeFileSync(file, `- { name: a, token: ${SECRET}-new, scopes: [read] }`);
    await eventually(() => codeOf(known, `Bearer ${SECRET}-new`) === undefined, 'it is read', 30);
    expect(codeOf(known, `Bearer ${SECRET}`)).toBe('UNAUTHORIZED');
    expect(logged.join()).not.toContain(SECRET);
  });

  const WAY_OUT =
    'write a list of { name: TEXT, token: 16 OR MORE LETTERS, DIGITS OR SIGNS (or sha256: ITS SHA-256 IN HEX), scopes: [read, write, operate] }';
  const GOOD = `- { name: good, token: ${SECRET}, scopes: [read] }\n`;
  it.each([
    ['', ': the file must be array'],
    ['[]', ': the file must NOT have fewer than 1 items'],
    [SECRET, ': the file must be array'],
    [`${GOOD}- ${SECRET}`, ': entry 2 must be object'],
    [`- { token: ${SECRET}, scopes: [read] }`, ': entry 1 must NOT have fewer than 3 properties'],
    [`${GOOD}- { name: a, token: 'hunter2 hunter2 hunter2', scopes: [read] }`, ': entry 2/token must match pattern "^[!-~]{16,}$"'],
    [`- { name: a, token: 1234567890123456, scopes: [] }`, ': entry 1/token must be string'],
    [`- { name: a, token: ${SECRET}, scopes: [] }`, ': entry 1/scopes must NOT have fewer than 1 items'],
    [`- { name: a, sha256: ${SECRET}, scopes: [read] }`, ': entry 1/sha256 must match pattern "^[0-9a-f]{64}$"'],
    [`- { name: a, scopes: [read] }`, ': entry 1 must NOT have fewer than 3 properties'],
    [`- { name: a, token: ${SECRET}, sha256: ${SHA256}, scopes: [read] }`, ': entry 1 must NOT have more than 3 properties'],
    [`- { name: a, token: ${SECRET}, scopes: [${SECRET}] }`, ': entry 1/scopes/0 must be equal to one of the allowed values'],
    [`- { name: a, ${SECRET}: 1, scopes: [read] }`, ': entry 1 must NOT have additional properties'],
    [`- { name: a, token: *${SECRET}, scopes: [read] }`, ` can't be read (BAD_ALIAS)`],
    [`- name: a: ${SECRET}`, ` can't be read (BLOCK_AS_IMPLICIT_KEY)`],
    [`- { name: a, token: !${SECRET} x, scopes: [read] }`, ': entry 1/token must match pattern "^[!-~]{16,}$"'],
  ])('of a file with a problem are refused without a token in the text: %j', (text, problem) => {
    expect(() => tokens(text)).toThrow(
      new SettingsError([`RANKLOG_HTTP_TOKENS: ${file}${problem}; ${WAY_OUT}`]),
    );
  }); // prettier-ignore

  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.example.com', false],
    ['localhost.example.com', false],
  ])('are not needed on %s: %s', (httpHost, isLoopback) => {
    const open = () => tokensOf({ httpTokens: '', httpHost } as Settings, logger);
    if (isLoopback) expect(open()).toBeUndefined();
    else
      expect(open).toThrow(
        new SettingsError([
          `RANKLOG_HTTP_TOKENS: there is no file of tokens, so RANKLOG_HTTP_HOST "${httpHost}" would let others read all boards; name a file, or set RANKLOG_HTTP_HOST to 127.0.0.1`,
        ]),
      );
  });
});
