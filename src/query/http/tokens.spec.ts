import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, unwatchFile, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { ProblemError } from '#problems';
import { eventually } from '../../../test/support/eventually.js';
import { loggerTo } from '../../../test/support/loggers.js';
import { SettingsError } from '../../config/settings.js';
import { Tokens } from './tokens.js';

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
  const codeOf = (known: Tokens, header: string | undefined, scope: 'read' | 'write' = 'read') => {
    try {
      known.nameOf(header, scope);
      return undefined;
    } catch (error) {
      return (error as ProblemError).code;
    }
  };

  it('are compared with all of the file, as text or by their SHA-256, and refuse other scopes', () => {
    const known = tokens(
      `- { name: page, token: ${SECRET}-1, scopes: [read] }\n- { name: game, sha256: ${SHA256}, scopes: [read, write] }`,
    );
    expect(codeOf(known, `Bearer ${SECRET}`, 'write')).toBeUndefined();
    expect(codeOf(known, `bearer  ${SECRET}-1`)).toBeUndefined();
    expect(codeOf(known, `Bearer ${SECRET}-1`, 'write')).toBe('FORBIDDEN');
    expect(() => known.nameOf(`Bearer ${SECRET}-1`, 'operate')).toThrow(
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

  it('have the name of the entry with the scope', () => {
    const entry = (scope: string) => `- { name: ${scope}, token: ${SECRET}, scopes: [${scope}] }\n`;
    const known = tokens(entry('read') + entry('write'));
    expect(known.nameOf(`Bearer ${SECRET}`, 'write')).toBe('write');
    expect(known.nameOf(`Bearer ${SECRET}`)).toBe('read');
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
  const REST = `name: a, token: ${SECRET}, scopes: [read]`;
  const NO_LIST = ': the file must be a list that is not empty';
  const NO_MAP = ': entry 2: it must be a map of fields';
  const UNKNOWN = ': entry 1: it must have no other fields than name, token, sha256, scopes';
  const NO_TEXT = ': entry 1: name must be a string';
  const NO_TOKEN = ': entry 1: token must be a text of 16 or more ASCII letters, digits or signs';
  const BOTH = ': entry 1: token must be left out if there is sha256';
  const NO_HASH = ': entry 1: sha256 must be a text of 64 lower-case hexadecimal digits';
  const NO_SCOPES = ': entry 1: scopes must be a list that is not empty';
  const OTHER_SCOPE =
    ': entry 1: each value in scopes must be one of the following values: read, write, operate';
  it.each([
    ['', NO_LIST],
    ['[]', NO_LIST],
    [SECRET, NO_LIST],
    [`{ ${REST} }`, NO_LIST],
    [`!!set { { ${REST} } }`, NO_LIST],
    [`${GOOD}- ${SECRET}`, NO_MAP],
    [`${GOOD}- null`, NO_MAP],
    [`${GOOD}- [{ ${REST} }]`, NO_MAP],
    [`- !!omap [name: a, token: ${SECRET}, scopes: [read]]`, NO_TEXT],
    [`- !!timestamp 2026-11-20`, NO_TEXT],
    [`- { ${REST}, ${SECRET}: 1 }`, UNKNOWN],
    [`- { ${REST}, __proto__: 1 }`, UNKNOWN],
    [`- { ${REST}, constructor: 1 }`, UNKNOWN],
    [`- { ${REST}, toString: 1 }`, UNKNOWN],
    [`- { token: ${SECRET}, scopes: [read] }`, NO_TEXT],
    [`- { name: '', token: ${SECRET}, scopes: [read] }`, ': entry 1: name should not be empty'],
    [`- { name: [a], token: ${SECRET}, scopes: [read] }`, NO_TEXT],
    [`- { name: null, token: ${SECRET}, scopes: [read] }`, NO_TEXT],
    [`- { name: { constructor: ${SECRET} }, token: ${SECRET}, scopes: [read] }`, NO_TEXT],
    [`- { name: a, scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: hunter2, scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: 'hunter2 hunter2 hunter2', scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: 1234567890123456, scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: [${SECRET}], scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: null, scopes: [read] }`, NO_TOKEN],
    [`- { name: a, token: !${SECRET} x, scopes: [read] }`, NO_TOKEN],
    [`- { ${REST}, sha256: ${SHA256} }`, BOTH],
    [`- { ${REST}, sha256: null }`, BOTH],
    [`- { name: a, token: '', sha256: ${SHA256}, scopes: [read] }`, BOTH],
    [`- { name: a, token: null, sha256: ${SHA256}, scopes: [read] }`, BOTH],
    [`- { name: a, sha256: ${SECRET}, scopes: [read] }`, NO_HASH],
    [`- { name: a, sha256: null, scopes: [read] }`, NO_HASH],
    [`- { name: a, token: ${SECRET} }`, NO_SCOPES],
    [`- { name: a, token: ${SECRET}, scopes: [] }`, NO_SCOPES],
    [`- { name: a, token: ${SECRET}, scopes: read }`, NO_SCOPES],
    [`- { name: a, token: ${SECRET}, scopes: !!set { read } }`, NO_SCOPES],
    [`- { name: a, token: ${SECRET}, scopes: [[read]] }`, OTHER_SCOPE],
    [`- { name: a, token: ${SECRET}, scopes: &a [*a] }`, OTHER_SCOPE],
    [`- { name: a, token: ${SECRET}, scopes: [read, null] }`, OTHER_SCOPE],
    [`- { name: a, token: ${SECRET}, scopes: [read, ${SECRET}] }`, OTHER_SCOPE],
    [`- { name: a, token: *${SECRET}, scopes: [read] }`, ` can't be read (BAD_ALIAS)`],
    [`- name: a: ${SECRET}`, ` can't be read (BLOCK_AS_IMPLICIT_KEY)`],
  ])('of a file with a problem are refused without a token in the text: %j', (text, problem) => {
    expect(() => tokens(text)).toThrow(
      new SettingsError([`RANKLOG_HTTP_TOKENS: ${file}${problem}; ${WAY_OUT}`]),
    );
  });
});
