import { createRequire } from 'node:module';
import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger as PinoLogger } from 'pino';
import type { Settings } from '../config/settings.js';

/** The words of ranklog: a message and facts, to standard error. */
export interface Logger {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}

/** Pretty for people on a terminal, JSON for machines; written at once, so that nothing is lost at an exit. */
export function createLogger({
  logLevel,
  logFormat,
}: Pick<Settings, 'logLevel' | 'logFormat'>): Logger {
  const forPeople = logFormat === 'pretty' || (logFormat === 'auto' && process.stderr.isTTY);
  const stream = forPeople
    ? loadPretty()({
        destination: 2,
        sync: true,
        ignore: 'pid,hostname',
        translateTime: 'SYS:HH:MM:ss.l',
      })
    : destination({ dest: 2, sync: true });
  const log = pino(
    { level: logLevel, serializers: { error: pino.stdSerializers.errWithCause } },
    stream,
  );
  return new PinoAdapter(log, logLevel === 'debug');
}

/** Loads pino-pretty only where it is used: it takes longer to load than pino. */
function loadPretty() {
  return createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
}

class PinoAdapter implements Logger {
  constructor(
    private readonly log: PinoLogger,
    private readonly stacks: boolean,
  ) {}

  debug(message: string, facts: object = {}): void {
    this.log.debug(facts, message);
  }

  info(message: string, facts: object = {}): void {
    this.log.info(this.#forReaders(facts), message);
  }

  warn(message: string, facts: object = {}): void {
    this.log.warn(this.#forReaders(facts), message);
  }

  error(message: string, facts: object = {}): void {
    this.log.error(this.#forReaders(facts), message);
  }

  /** An error's words are in the message already; its stack is for those who look for a bug. */
  #forReaders(facts: object): object {
    if (this.stacks) return facts;
    return Object.fromEntries(Object.entries(facts).filter(([, fact]) => !(fact instanceof Error)));
  }
}

/** Nest's own words through our logger; its reports of each module are for debugging. */
export function nestLogger(logger: Logger): LoggerService {
  const facts = (rest: unknown[]) => ({ context: rest.at(-1) });
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), facts(rest)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(String(message), facts(rest)),
    error: (message: unknown, ...rest: unknown[]) => logger.error(String(message), facts(rest)),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), facts(rest)),
    verbose: (message: unknown, ...rest: unknown[]) => logger.debug(String(message), facts(rest)),
  };
}
