import { expect, it } from '@jest/globals';
import { SettingsError, type Settings } from '../../config/settings.js';
import { SILENT } from '../../infra/logger.js';
import { requiredTokens } from './required-tokens.js';

it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])(
  'HTTP needs no tokens on %s',
  async (httpHost) => {
    const settings = { httpTokens: '', httpHost } as Settings;
    expect(await requiredTokens(settings, SILENT)).toBeUndefined();
  },
);

it.each(['0.0.0.0', '::', '10.0.0.1', '127.example.com', 'localhost.example.com'])(
  'HTTP needs tokens on %s',
  async (httpHost) => {
    const settings = { httpTokens: '', httpHost } as Settings;
    await expect(requiredTokens(settings, SILENT)).rejects.toThrow(
      new SettingsError([
        `RANKLOG_HTTP_TOKENS: there is no file of tokens, so RANKLOG_HTTP_HOST "${httpHost}" would let others read all boards; name a file, or set RANKLOG_HTTP_HOST to 127.0.0.1`,
      ]),
    );
  },
);
