import { SettingsError, type Settings } from '../../config/settings.js';
import type { Logger } from '../../infra/logger.js';
import type { Tokens } from './tokens.js';

/**
 * The tokens of the file in the settings; undefined: HTTP needs no tokens. Loads class-validator
 * only if there is a file.
 * @throws SettingsError for a bad file, or without a file if HTTP is open to other machines
 */
export async function requiredTokens(
  { httpTokens, httpHost }: Settings,
  logger: Logger,
): Promise<Tokens | undefined> {
  if (httpTokens !== '') {
    const { Tokens } = await import('./tokens.js');
    return new Tokens(httpTokens, logger);
  }
  if (/^(localhost|127(\.\d+){3}|::1)$/.test(httpHost)) return undefined;
  throw new SettingsError([
    `RANKLOG_HTTP_TOKENS: there is no file of tokens, so RANKLOG_HTTP_HOST "${httpHost}" ` +
      'would let others read all boards; name a file, or set RANKLOG_HTTP_HOST to 127.0.0.1',
  ]);
}
