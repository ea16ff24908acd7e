import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import { previewEvent } from './event-preview.js';

const NOON = '2026-11-20T12:00:00Z';
const definitions = parseBoardsFile(
  `boards:
  arena:
    columns:
      - { name: kills, min: '0' }
      - { name: seconds, update: sum, order: asc, decimals: 3 }
    windows: [all, { window: day, keep: 2d }, { window: year, keep: 99999999d }]
    dimensions: [[], [guild]]
    deduplicate: 1h
    publish: { windows: [all], dimensions: [[guild]] }
`,
  'boards.yaml',
);

function preview(event: object | string, board?: string) {
  const value = Buffer.from(typeof event === 'string' ? event : JSON.stringify(event));
  const place = { redisPrefix: 'games', shards: 7 };
  return previewEvent(value, { definitions, board, at: NOON, ...place });
}

const event = { board: 'arena', playerId: 'ada', attributes: { guild: 'a b' } };

describe('the preview of an event', () => {
  it('shows columns as decimals, and views with their keys, expiry and publication', () => {
    const found = preview({ ...event, eventId: 'e1', deltas: { seconds: '1.5' } });
    expect(found).toMatchObject({
      board: 'arena',
      shard: 4,
      playerId: 'ada',
      occurredAt: '2026-11-20T12:00:00.000Z',
      eventId: 'e1',
      columns: { kills: null, seconds: '1.500' },
      live: 'games:4:{games:4}:live',
    });
    const views = 'views' in found ? found.views : [];
    expect(views.map(({ view, published, expiresAt }) => [view, published, expiresAt])).toEqual([
      ['all', false, null],
      ['day:2026-11-20', false, '2026-11-23T00:00:00.000Z'],
      ['year:2026', false, null],
      ['all guild=a%20b', true, null],
      ['day:2026-11-20 guild=a%20b', false, '2026-11-23T00:00:00.000Z'],
      ['year:2026 guild=a%20b', false, null],
    ]);
    expect(views[4]?.keys).toEqual({
      ranking: 'games:4:{games:4}:GENERATION:ranking:day:2026-11-20 guild=a%20b',
      players: 'games:4:{games:4}:GENERATION:players:day:2026-11-20 guild=a%20b',
    });
  });

  it('reads a time without a zone in the zone of the board', () => {
    const text = 'boards: { paris: { columns: [{ name: points }], timeZone: Europe/Paris } }';
    const context = { definitions: parseBoardsFile(text, 'boards.yaml'), at: '2026-11-20T12:00' };
    const value = Buffer.from('{"board":"paris","playerId":"ada","delta":1}');
    const found = previewEvent(value, { ...context, redisPrefix: 'games', shards: 7 });
    expect(found).toMatchObject({ occurredAt: '2026-11-20T11:00:00.000Z' });
  });

  it('shows values with the signs of the event, in descending and ascending columns', () => {
    expect(preview({ ...event, deltas: { kills: 3, seconds: '-0.25' } })).toMatchObject({
      columns: { kills: '3', seconds: '-0.250' },
    });
    expect(preview({ ...event, deltas: { kills: 0, seconds: 0 } })).toMatchObject({
      columns: { kills: '0', seconds: '0.000' },
    });
  });

  it.each([
    ['bytes that are no JSON', '{', 'NOT_JSON'],
    ['no player', { ...event, playerId: undefined, delta: 1 }, 'INVALID_ID'],
    [
      'an attribute missing',
      { ...event, deltas: { kills: 1 }, attributes: {} },
      'MISSING_DIMENSION',
    ],
    ['a value beyond its bounds', { ...event, deltas: { kills: -1 } }, 'OUT_OF_BOUNDS'],
    [
      'a time in the future',
      { ...event, deltas: { kills: 1 }, occurredAt: '2027-01-01T00:00:00Z' },
      'TOO_FAR_AHEAD',
    ],
  ])('is a dead letter with its remedy for %s', (_about, given, code) => {
    expect(preview(given)).toEqual({
      deadLetter: { code, detail: expect.any(String), wayOut: expect.stringMatching(/\.$/) },
    });
  });

  it('uses the given board, and lists the known boards for an unknown one', () => {
    const other = { ...event, board: 'arenas', deltas: { kills: 1 } };
    expect(preview(other, 'arena')).toMatchObject({ board: 'arena' });
    expect(preview(other)).toMatchObject({
      deadLetter: {
        code: 'UNKNOWN_BOARD',
        detail: 'there is no board "arenas"; boards of the file: arena; did you mean arena?',
      },
    });
  });
});
