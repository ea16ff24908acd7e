import assert from 'node:assert';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BoardsFileError,
  EARLIEST_TIME,
  formatView,
  isState,
  LATEST_TIME,
  parseBoardsFile,
  parseView,
  readableView,
  resolveEvent,
} from '#board';
import { selectedView } from '#board-store';
import { decodeText } from '#contracts';
import { RanklogError } from '#errors';
import { cursorAfter, pageEndOf, scanCursor } from '../../libs/board-store/read/view-selection.js';
import { readRecord } from '../../src/ingest/read-record.js';
import { BASE_TIME } from '../model/arbitrary.js';
import { cursorArbitrary, VIEWS } from './cursors.js';
import { editedArbitrary } from './edits.js';
import {
  BOARDS_FILES,
  checkInputs,
  DEFINITIONS,
  EVENT_TEXTS,
  FUZZ_TIMEOUT,
  timed,
} from './inputs.js';
import { assertReadable, BOARDS, recordArbitrary } from './records.js';

/**
 * The result of a read; undefined if it is refused.
 * @throws any error that says nothing to the reader
 */
function refusable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RanklogError) return undefined;
    throw error;
  }
}

const EVENTS = EVENT_TEXTS.flatMap((text) => {
  const decoded = decodeText(text);
  return decoded.ok ? [decoded.event] : [];
});

describe('any bytes', () => {
  it(
    'are a score event or a dead letter with a known reason',
    async () => {
      const property = fc.property(recordArbitrary, (record) => {
        assertReadable(timed(record.value?.length ?? 0, () => readRecord(record, 0, BOARDS)));
      });
      await checkInputs(property, { usual: 4_000, share: 65 });
    },
    FUZZ_TIMEOUT,
  );
});

describe('any text', () => {
  it(
    'is a boards file that can be used, or problems with their lines',
    async () => {
      const property = fc.property(editedArbitrary(BOARDS_FILES), (text) => {
        const lines = text.split('\n').length;
        try {
          const definitions = timed(20 * text.length, () => parseBoardsFile(text, 'boards.yaml'));
          assert(definitions.length > 0);
          for (const definition of definitions)
            for (const event of EVENTS.slice(0, 3)) resolveEvent(definition, event, BASE_TIME);
        } catch (error) {
          if (!(error instanceof BoardsFileError)) throw error;
          assert(error.problems.length > 0);
          for (const { line } of error.problems) assert(line >= 1 && line <= lines, `line ${line}`);
        }
      });
      await checkInputs(property, { usual: 300, share: 1 });
    },
    FUZZ_TIMEOUT,
  );

  const definition = fc.constantFrom(...DEFINITIONS.values());
  const at = fc.oneof(fc.constantFrom(EARLIEST_TIME, BASE_TIME, LATEST_TIME, NaN), fc.double());

  it(
    'is a view of a board, or refused',
    async () => {
      const text = editedArbitrary(VIEWS);
      const property = fc.property(
        fc.tuple(definition, text, text, at),
        ([board, view, where, time]) => {
          const parsed = refusable(() => timed(view.length, () => parseView(view)));
          if (parsed !== undefined) assert.deepEqual(parseView(formatView(parsed)), parsed);
          const found = refusable(() => timed(view.length, () => readableView(board, view)));
          if (found !== undefined) assert.equal(readableView(board, found.view).view, found.view);
          for (const selection of [{ view }, { window: view, where: { region: where } }])
            refusable(() =>
              timed(view.length, () => selectedView(board, { ...selection, at: time })),
            );
        },
      );
      await checkInputs(property, { usual: 3_000, share: 17 });
    },
    FUZZ_TIMEOUT,
  );

  it(
    'is a cursor of a board as it is defined, or refused',
    async () => {
      const cursors = [...DEFINITIONS.values()].map((board) =>
        fc.tuple(fc.constant(board), cursorArbitrary(board)),
      );
      const property = fc.property(fc.oneof(...cursors), ([board, cursor]) => {
        refusable(() => timed(cursor.length, () => scanCursor(cursor)));
        const found = refusable(() => timed(cursor.length, () => pageEndOf(board, cursor)));
        if (found === undefined) return;
        assert(isState(found.end.state, board.columns.length));
        assert.deepEqual(pageEndOf(board, cursorAfter(board, found.end)), found);
      });
      await checkInputs(property, { usual: 3_000, share: 15 });
    },
    FUZZ_TIMEOUT,
  );
});
