import { describe, expect, it } from '@jest/globals';
import { LATEST_TIME } from '#board';
import { expiryText } from './view-json.js';

const DAY = 86_400_000;
/** The expiry of `keep: 99999999d`: later than the latest Date. */
const FAR = LATEST_TIME + 1 + 99_999_999 * DAY;

describe('expiryText', () => {
  it('is a time up to the latest event time, and null beyond', () => {
    expect(expiryText(Date.UTC(2026, 10, 20))).toBe('2026-11-20T00:00:00.000Z');
    expect(expiryText(LATEST_TIME)).toBe('9999-12-31T23:59:59.999Z');
    for (const never of [null, LATEST_TIME + 1, FAR]) expect(expiryText(never)).toBeNull();
  });
});
