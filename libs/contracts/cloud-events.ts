import { isUtf8 } from 'node:buffer';
import type { DeadLetterCode } from './dead-letter-codes.js';
import { isId } from './ids.js';
import { headerText, lastHeader, type RecordHeaders } from './record.js';
import { quote } from './show.js';

export const SCORE_EVENT_TYPE = 'ranklog.score-event.v1';
export const RANK_CHANGED_TYPE = 'ranklog.rank-changed.v1';
export const LEADERS_CHANGED_TYPE = 'ranklog.leaders-changed.v1';
export const DEFINITION_RECORD_TYPE = 'ranklog.definition.v1';

/** Headers of CloudEvents 1.0, Kafka binding, binary mode. */
export function cloudEventHeaders({
  id,
  type,
  source,
}: {
  id: string;
  type: string;
  source: string;
}) {
  return {
    ce_id: id,
    ce_type: type,
    ce_source: source,
    ce_specversion: '1.0',
    'content-type': 'application/json',
  };
}

/**
 * Why the headers of a record forbid reading it as a JSON score event; undefined if they don't. A record without headers is a
 * score event. `ce_type` decides what a record is, even as the only header.
 */
export function cloudEventProblem(
  headers: RecordHeaders,
): { readonly code: DeadLetterCode; readonly detail: string } | undefined {
  const unsupported = (detail: string) => ({ code: 'UNSUPPORTED_CLOUDEVENT', detail }) as const;
  const contentType = headerText(headers, 'content-type')?.toLowerCase().split(';')[0]?.trim();
  if (contentType?.startsWith('application/cloudevents') === true)
    return unsupported(
      `content-type ${quote(contentType)} is structured mode; send binary mode: attributes in ce_ headers, the score event as value`,
    );
  const type = headerText(headers, 'ce_type');
  if (type !== undefined && type !== SCORE_EVENT_TYPE)
    return {
      code: 'UNKNOWN_RECORD_TYPE',
      detail: `ce_type ${quote(type)} is not known; send ${SCORE_EVENT_TYPE}, or no ce_type`,
    };
  const version = headerText(headers, 'ce_specversion');
  if (version === undefined) return undefined;
  if (version !== '1.0')
    return unsupported(`ce_specversion ${quote(version)} is not supported; send 1.0`);
  if (
    contentType !== undefined &&
    contentType !== 'application/json' &&
    !contentType.endsWith('+json')
  )
    return unsupported(`content-type ${quote(contentType)} is not JSON; send application/json`);
  return undefined;
}

/**
 * The id of a CloudEvent, which stands in for a missing eventId; undefined when the record is no CloudEvent or the
 * id breaks the rules of ids (it is the sender's library that chose it, so it is no reason to refuse the event).
 */
export function cloudEventId(headers: RecordHeaders): string | undefined {
  const id = lastHeader(headers, 'ce_id');
  if (id === undefined || headerText(headers, 'ce_specversion') === undefined) return undefined;
  // Read as text, different bytes that are not UTF-8 would be the same id.
  if (typeof id !== 'string' && !isUtf8(id)) return undefined;
  const text = id.toString();
  return isId(text) ? text : undefined;
}
