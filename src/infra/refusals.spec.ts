import { describe, expect, it } from '@jest/globals';
import { loadSettings } from '../config/settings.js';
import { settingsRefusal } from './refusals.js';

const { settings } = loadSettings({
  ...{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'hunter2' },
});
const named = (name: string, message: string, more = {}) =>
  Object.assign(new Error(message), { name, ...more });
const refusal = (error: Error) => settingsRefusal(error, 'Kafka at kafka:9092', settings);

describe('an error of a login to Kafka', () => {
  it('refuses the user or the mechanism', () => {
    const failed =
      'SASL PLAIN authentication failed: Authentication failed: Invalid username or password';
    expect(refusal(named('KafkaJSSASLAuthenticationError', failed))).toBe(
      `KAFKA_SASL_USERNAME: "ada" does not work with Kafka at kafka:9092 (${failed}); correct it or its password`,
    );
    const unsupported = 'The broker does not support the requested SASL mechanism';
    const type = 'UNSUPPORTED_SASL_MECHANISM';
    expect(refusal(named('KafkaJSProtocolError', unsupported, { type }))).toBe(
      `KAFKA_SASL_MECHANISM: "plain" does not work with Kafka at kafka:9092 (${unsupported}); use one of sasl.enabled.mechanisms of Kafka`,
    );
  });

  it('refuses nothing if the connection was lost, or the server is away', () => {
    for (const lost of ['Closed connection', 'Request timed out', 'Connection error: ECONNRESET'])
      expect(
        refusal(
          named('KafkaJSSASLAuthenticationError', `SASL PLAIN authentication failed: ${lost}`),
        ),
      ).toBeUndefined();
    expect(refusal(new Error('connect ECONNREFUSED'))).toBeUndefined();
  });
});
