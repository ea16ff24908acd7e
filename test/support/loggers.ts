import type { Logger } from '../../src/infra/logger.js';

/** Passes each message and its level to `log`. */
export function loggerTo(log: (message: string, level: keyof Logger) => unknown): Logger {
  const at = (level: keyof Logger) => (message: string) => void log(message, level);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const SILENT = loggerTo(() => undefined);
