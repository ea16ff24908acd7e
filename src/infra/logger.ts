import { createRequire } from 'node:module';
import type { LoggerService } from '@nestjs/common';
import type * as Pino from 'pino';
import type PinoPretty from 'pino-pretty';
import type { Settings } from '../config/settings.js';

/** Logs messages with facts to standard error. A class, so that Nest can inject it. */
export abstract class Logger {
  abstract debug(message: string, facts?: object): void;
  abstract info(message: string, facts?: object): void;
  abstract warn(message: string, facts?: object): void;
  abstract error(message: string, facts?: object): void;
}

type Level = keyof Logger;
type LogSettings = Pick<Settings, 'logLevel' | 'logFormat'>;

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies Level[];

/** Writes pretty lines or JSON; synchronously, so that no line is lost when the process exits. */
export function createLogger(settings: LogSettings): Logger {
  const { logLevel } = settings;
  let pino: Pino.Logger | undefined;
  const at = (level: Level) => {
    if (logLevel === 'silent' || LEVELS.indexOf(level) < LEVELS.indexOf(logLevel)) return ignore;
    return (message: string, facts: object = {}) => {
      pino ??= createPino(settings);
      pino[level](logLevel === 'debug' ? facts : withoutErrors(facts), message);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Loads pino. Called for the first line that is logged, because most commands log none. */
function createPino({ logLevel, logFormat }: LogSettings): Pino.Logger {
  const library = createRequire(import.meta.url)('pino') as typeof Pino;
  const { destination, pino, stdSerializers } = library;
  const options = { level: logLevel, serializers: { error: stdSerializers.errWithCause } };
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY))
    return pino(options, destination({ dest: 2, sync: true }));
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const translateTime = 'SYS:HH:MM:ss.l';
  const lines = pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime });
  return pino(options, lines);
}

/** Removes errors: the line already has their messages, and their stacks are for debugging. */
function withoutErrors(facts: object): object {
  const others = Object.entries(facts).filter(([, fact]) => !(fact instanceof Error));
  return Object.fromEntries(others);
}

function ignore(): void {
  // The level of the line is below that of the settings.
}

export const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Logs Nest's own lines with our logger. Logs its report of a failed start as `debug`, because the
 * caller reports the error.
 */
export function nestLogger(logger: Logger): LoggerService {
  const write = (level: Level, message: unknown, rest: readonly unknown[]) => {
    const context = rest.at(-1);
    const isFailedStart = /^_?ExceptionHandler$/.test(String(context)); // esbuild renames the class
    logger[isFailedStart ? 'debug' : level](String(message), { context });
  };
  return {
    log: (message, ...rest: unknown[]) => write('debug', message, rest),
    debug: (message, ...rest: unknown[]) => write('debug', message, rest),
    warn: (message, ...rest: unknown[]) => write('warn', message, rest),
    error: (message, ...rest: unknown[]) => write('error', message, rest),
  };
}
