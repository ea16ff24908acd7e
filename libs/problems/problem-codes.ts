// To add a problem: add its code, status and title here, and its row to docs/reference/http.md,
// which a spec compares.

/**
 * The problems that HTTP answers report: a code for programs, the status, and a title; the first
 * one of a status is the general one. docs/reference/http.md lists them.
 */
export const PROBLEMS = {
  BAD_REQUEST: [400, 'Malformed request'],
  INVALID_REQUEST: [400, 'Invalid value in the request'],
  UNKNOWN_PARAMETER: [400, 'Unknown parameter or field'],
  INVALID_READ: [400, 'Value does not fit the board'],
  MALFORMED_VIEW: [400, 'Malformed view'],
  UNAUTHORIZED: [401, 'No valid token'],
  FORBIDDEN: [403, 'Token without the scope'],
  NOT_FOUND: [404, 'No such path'],
  UNKNOWN_BOARD: [404, 'Unknown board'],
  NO_SUCH_VIEW: [404, 'No such view'],
  NO_INSTANCE: [404, 'No such instance of a window'],
  NO_RECONCILIATION: [404, 'No reconciliation'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed'],
  REQUEST_TIMEOUT: [408, 'Request not received in time'],
  NOT_BANNED: [409, 'Player is not banned'],
  ERASED: [409, 'Player is erased'],
  NOT_PUBLISHED: [409, 'Not published by the board'],
  EXPIRED_VIEW: [410, 'Expired view'],
  PAYLOAD_TOO_LARGE: [413, 'Body too large'],
  URI_TOO_LONG: [414, 'Part of the path too long'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Body is not JSON'],
  INVALID_EVENT: [422, 'Score event that the board would refuse'],
  HEADERS_TOO_LARGE: [431, 'Headers or URL too large'],
  INTERNAL_SERVER_ERROR: [500, 'Internal error'],
  BOARD_BUILDING: [503, 'Board is being built'],
  UNKNOWN_GENERATION: [503, 'Board changed during the read'],
  LISTING_INTERRUPTED: [503, 'Board changed during the listing'],
  STORE_UNAVAILABLE: [503, 'Redis does not answer'],
  LOG_UNAVAILABLE: [503, 'Kafka does not answer'],
  SEND_FAILED: [503, 'Kafka did not acknowledge the events'],
  STALE: [503, 'Redis lacks events'],
  OVERLOADED: [503, 'Too many requests in flight'],
  TOO_MANY_STREAMS: [503, 'Too many streams'],
} as const satisfies Readonly<Record<string, readonly [status: number, title: string]>>;

export type ProblemCode = keyof typeof PROBLEMS;
