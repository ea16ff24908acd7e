import { describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { decodeScoreEvent, type ScoreEvent } from '#contracts';
import { InvalidScoreEventError, ScoreProducer } from './score-producer.js';

const kafka = new kafkajs.Kafka({ brokers: ['nowhere:1'], logLevel: kafkajs.logLevel.NOTHING });
const producer = new ScoreProducer({ kafka, source: '/arena' });

const EVENT = {
  board: 'arena',
  playerId: 'p-17',
  delta: '12',
  eventId: 'e-1',
  attributes: { guild: ['red', 'blue'], team: [], region: 'eu' },
} satisfies ScoreEvent;

describe('the message of a score event', () => {
  it('is keyed by player and read as it was sent, lists of attributes too', () => {
    const { key, value, headers = {} } = producer.toMessage(JSON.stringify(EVENT));
    expect(key).toBe('p-17');
    expect(headers).toMatchObject({ ce_id: 'e-1', ce_source: '/arena' });
    expect(
      decodeScoreEvent({ key: null, value: Buffer.from(value ?? ''), headers: {} }),
    ).toStrictEqual({ ok: true, event: EVENT });
  });

  it('is refused with the code and the place of what is wrong', () => {
    const wrong = { ...EVENT, attributes: { guild: ['red', ''] } };
    let refusal: unknown;
    try {
      producer.toMessage(JSON.stringify(wrong));
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InvalidScoreEventError);
    const { code, detail } = refusal as InvalidScoreEventError;
    expect(code).toBe('INVALID_ATTRIBUTES');
    expect(detail).toContain('attributes.guild[1] is ""');
  });
});
