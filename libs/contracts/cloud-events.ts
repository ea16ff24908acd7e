import { isUtf8 } from 'node:buffer';
import type { Rejection } from './dead-letter-codes.js';
import { headerText, lastHeader, type HeadedRecord } from './record.js';
import { isId, quote } from './values.js';

export const SCORE_EVENT_TYPE = 'ranklog.score-event.v1';
export const RANK_CHANGED_TYPE = 'ranklog.rank-changed.v1';
export const LEADERS_CHANGED_TYPE = 'ranklog.leaders-changed.v1';
export const PERIOD_CLOSED_TYPE = 'ranklog.period-closed.v1';
export const PLAYER_RECORD_TYPES = {
  banned: 'ranklog.player-banned.v1',
  unbanned: 'ranklog.player-unbanned.v1',
  erased: 'ranklog.player-erased.v1',
} as const;
export const DEFINITION_RECORD_TYPE = 'ranklog.definition.v1';

const JSON_TYPE = 'application/json';

/** Headers of CloudEvents 1.0, Kafka binding, binary mode. */
export function cloudEventHeaders(event: { id: string; type: string; source: string }) {
  return {
    ce_id: event.id,
    ce_type: event.type,
    ce_source: event.source,
    ce_specversion: '1.0',
    'content-type': JSON_TYPE,
  };
}

/**
 * Why the headers of a record exclude a JSON record of a type; undefined if they don't. Checks
 * `ce_type` even if it is the only header.
 */
export function cloudEventProblem(
  record: HeadedRecord,
  expected: string = SCORE_EVENT_TYPE,
): Rejection | undefined {
  const contentType = mediaType(headerText(record, 'content-type'));
  if (contentType?.startsWith('application/cloudevents') === true)
    return unsupported(
      `content-type ${quote(contentType)} is not binary mode; send binary mode: attributes ` +
        'in ce_ headers, the score event as the value',
    );

  const type = headerText(record, 'ce_type');
  if (type !== undefined && type !== expected)
    return {
      code: 'UNKNOWN_RECORD_TYPE',
      detail: `ce_type ${quote(type)} is unknown; send ${SCORE_EVENT_TYPE} or no ce_type`,
    };

  const version = headerText(record, 'ce_specversion');
  if (version === undefined) return undefined;
  if (version !== '1.0')
    return unsupported(`ce_specversion ${quote(version)} is not supported; send 1.0`);
  if (contentType === undefined || contentType === JSON_TYPE || contentType.endsWith('+json'))
    return undefined;
  return unsupported(`content-type ${quote(contentType)} is not JSON; send ${JSON_TYPE}`);
}

function unsupported(detail: string): Rejection {
  return { code: 'UNSUPPORTED_CLOUDEVENT', detail };
}

/** A content type without parameters. */
function mediaType(contentType: string | undefined): string | undefined {
  if (contentType === JSON_TYPE) return JSON_TYPE; // nearly all records have it
  return contentType?.toLowerCase().split(';')[0]?.trim();
}

/**
 * The id of a CloudEvent, which replaces a missing eventId. undefined if the record is not a
 * CloudEvent or if the id is not valid: the sender's library has chosen the id, so an invalid one
 * does not make the event a dead letter.
 */
export function cloudEventId(record: HeadedRecord): string | undefined {
  const id = lastHeader(record, 'ce_id');
  if (id === undefined || headerText(record, 'ce_specversion') === undefined) return undefined;
  // Decoding would make different ids equal: it replaces all invalid UTF-8 by the same character.
  if (typeof id !== 'string' && !isUtf8(id)) return undefined;
  const text = id.toString();
  return isId(text) ? text : undefined;
}
