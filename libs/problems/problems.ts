import { nearNames, NoSuchViewError } from '#board';
import { UnknownBoardError } from '#board-store/reader';
import { wayOutOf } from '#contracts';
import { RanklogError } from '#errors';
import { PROBLEMS, type ProblemCode } from './problem-codes.js';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

const RETRY_AFTER_SECONDS = 1;

/** An error of HTTP itself; errors of the libraries have a code of their own. */
export class ProblemError extends RanklogError {
  constructor(
    readonly code: ProblemCode,
    detail: string,
    /** A misspelt name, and the names that it could mean. */
    readonly names?: { readonly asked: string; readonly known: readonly string[] },
  ) {
    super(detail);
  }
}

/** A score event that would become a dead letter. */
export class RefusedEventError extends ProblemError {
  readonly event: { readonly index: number; readonly code: string; readonly wayOut: string };

  /** `index`: the place of the event in the request, from 0; `letter`: its dead letter. */
  constructor(index: number, letter: { readonly code: string; readonly detail: string }) {
    super('INVALID_EVENT', `event ${index}: ${letter.detail}; no event was sent`);
    const { code } = letter;
    this.event = { index, code, wayOut: wayOutOf(code) };
  }
}

/** The body of the answer to a failed request, as RFC 9457 describes it. */
export function problemWith(code: ProblemCode, error: Error, detail = error.message) {
  const [status, title] = PROBLEMS[code];
  const type = `urn:ranklog:problem:${code}`;
  const suggestion = suggestionFor(error);
  const event = error instanceof RefusedEventError ? error.event : undefined;
  return {
    type,
    title,
    status,
    detail,
    code,
    ...(suggestion !== undefined && { suggestion }),
    ...(event !== undefined && { event }),
  };
}

export function problemHeaders(status: number): Readonly<Record<string, string>> {
  const retry = status === 503 && { 'retry-after': String(RETRY_AFTER_SECONDS) };
  return { 'content-type': PROBLEM_TYPE, ...retry };
}

function suggestionFor(error: Error): string | undefined {
  let names = error instanceof ProblemError ? error.names : undefined;
  if (error instanceof UnknownBoardError) names = { asked: error.board, known: error.known };
  if (error instanceof NoSuchViewError) names = error;
  return names && nearNames(names.asked, names.known, 1)[0];
}
