import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { cursorAfter, encodeCursor } from '../../libs/board-store/read/view-selection.js';
import { editedArbitrary, editedBytesArbitrary } from './edits.js';

/** Views, absolute and relative; each fits some board. */
// prettier-ignore
export const VIEWS = [
  'all', 'all region=eu', 'all guild=red machine=comet', 'all region=eu%2Fwest', 'day', 'day:2026-11-20', 'day:current', 'week:2026-W47', 'week:previous',
  'week:2026-W47 guild=owls', 'month:2026-11', 'year:2026', 'season:later', 'season:final-2025 school=porto', 'interval:contest',
  'interval:contest@2026-11-20T17:00:00Z', 'interval:contest@previous', 'interval:hourly@current', 'all limit=low', 'all league=en.1 season=2019-20',
];

/** The doubles of a state: a value and a time for each column. */
const numberArbitrary = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 1e308, 5e-324),
  fc.double(),
);
const columnArbitrary = fc
  .tuple(numberArbitrary, numberArbitrary, fc.constantFrom(0, 1, 2, 255))
  .map(([value, time, settled]) => {
    const bytes = Buffer.alloc(17);
    bytes.writeDoubleLE(value, 0);
    bytes.writeDoubleLE(time, 8);
    bytes.writeUInt8(settled, 16);
    return bytes;
  });

const boundArbitrary = fc.constantFrom('', '', '0', '-1', '9007199254740991', '-9999999999999999');

/** Cursors of the right form for this board; and changes of their JSON, and of their text. */
export function cursorArbitrary(definition: BoardDefinition): fc.Arbitrary<string> {
  const size = definition.columns.length;
  const formed = fc
    .tuple(
      fc.constantFrom(...VIEWS),
      fc.array(columnArbitrary, { minLength: size, maxLength: size }),
      fc.constantFrom('ada', 'é', '__proto__', 'x'.repeat(129), ''),
      fc.tuple(boundArbitrary, boundArbitrary),
    )
    .map(([view, columns, playerId, bounds]) =>
      cursorAfter(definition, { view, state: Buffer.concat(columns), playerId, bounds }),
    );
  const state = Buffer.alloc(17 * size);
  const ends = VIEWS.map((view) => ({ view, state, playerId: 'ada', bounds: ['', '7'] as const }));
  const cursors = [
    ...ends.map((end) => cursorAfter(definition, end)),
    encodeCursor(['g', 'a1b2', '1234567890']), // of a listing
  ];
  const words = cursors.map((cursor) => Buffer.from(cursor, 'base64url').toString());
  return fc.oneof(
    formed,
    editedBytesArbitrary(words).map((bytes) => bytes.toString('base64url')),
    editedArbitrary(cursors),
  );
}
