import type { Logger } from '../../src/infra/logger.js';

/** Passes each message and its level to `say`. */
export function loggerTo(say: (message: string, level: keyof Logger) => unknown): Logger {
  const at = (level: keyof Logger) => (message: string) => void say(message, level);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const SILENT = loggerTo(() => undefined);
