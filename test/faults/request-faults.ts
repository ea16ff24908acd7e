import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import type { KafkaAction } from '../support/kafka-proxy.js';

type Api = keyof typeof KAFKA_API;
type ErrorName = keyof typeof KAFKA_ERROR;

/** A fault of one request for a proxy. The name is part of a test title. */
export type RequestFault = readonly [name: string, apiKey: number, action: KafkaAction];

/** The broker does not execute the request, and responds with an error. */
export function refused(api: Api, error: ErrorName): RequestFault {
  const action = { error: KAFKA_ERROR[error], executed: false };
  return [`${api} gets the error ${error}`, KAFKA_API[api], action];
}

/** The broker executes the request, but responds with an error. */
export function executed(api: Api, error: ErrorName): RequestFault {
  const action = { error: KAFKA_ERROR[error], executed: true };
  return [`${api} is executed and gets the error ${error}`, KAFKA_API[api], action];
}

const LOSSES = {
  swallowReply: 'loses its response',
  tearReply: 'gets half a response',
  cutBefore: 'loses its connection',
} as const;

/** The request or its response is lost with the connection. */
export function lost(api: Api, action: keyof typeof LOSSES): RequestFault {
  return [`${api} ${LOSSES[action]}`, KAFKA_API[api], action];
}
