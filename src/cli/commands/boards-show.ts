import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Document, isCollection, isMap, visit } from 'yaml';
import { boardFields, suggestion, type BoardDefinition } from '#board';
import { loadSettings } from '../../config/settings.js';
import { readBoardsFile } from '../../reconciliation/boards/read-boards-file.js';
import { previewEvent, type EventPreview } from '../text/event-preview.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { JsonOption, TimeText } from '../text/options.js';
import { print, table } from '../text/output.js';

interface ShowOptions extends JsonOption {
  readonly board?: string;
  readonly event?: string;
  readonly at?: TimeText;
}

export async function boardsShow(given: string | undefined, options: ShowOptions): Promise<number> {
  const { settings } = loadSettings();
  const file = given ?? settings.boards;
  const definitions = await readBoardsFile(file);
  const { board, event, at } = options;
  const shown = board === undefined ? definitions : [findBoard(definitions, board, file)];
  if (event === undefined) {
    const fields = shown.map((definition) => [definition.board, boardFields(definition)] as const);
    print({ boards: Object.fromEntries(fields) }, options, toYaml);
    return EXIT.ok;
  }
  const context = { ...settings, definitions, board, at };
  const preview = previewEvent(await readEvent(event), context);
  print(preview, options, toText);
  return 'deadLetter' in preview ? EXIT.no : EXIT.ok;
}

function findBoard(definitions: readonly BoardDefinition[], board: string, file: string) {
  const found = definitions.find((definition) => definition.board === board);
  if (found !== undefined) return found;
  const known = definitions.map((definition) => definition.board);
  throw new CommandError(
    `there is no board "${board}" in ${file}; it has ` +
      `${known.join(', ')}${suggestion(board, known)}`,
    EXIT.no,
  );
}

async function readEvent(given: string): Promise<Buffer> {
  if (given === '-') return buffer(process.stdin);
  if (!given.startsWith('@')) return Buffer.from(given);
  return readFile(given.slice(1)).catch(() => {
    throw new CommandError(`can't read ${given.slice(1)}; name a file after @`, EXIT.usage);
  });
}

/**
 * The text of a boards file. Each field of a board is on one line, but a list of maps has a line
 * for each map.
 */
function toYaml(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Pair(_key, { value }, path) {
      if (path.filter(isMap).length < 3 || !isCollection(value)) return;
      value.flow = !value.items.some(isMap);
      for (const item of value.items) if (isCollection(item)) item.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, singleQuote: true }).trimEnd();
}

function toText(preview: EventPreview): string {
  if ('deadLetter' in preview) {
    const { code, detail, wayOut } = preview.deadLetter;
    return `dead letter ${code}: ${detail}\n${wayOut}`;
  }
  const { board, shard, playerId, occurredAt, eventId, columns, views, live } = preview;
  const id = eventId === undefined ? '' : `, event id ${eventId} (duplicates are dropped)`;
  const head = `${board} (shard ${shard}): ${playerId} at ${occurredAt}${id}`;
  const values = Object.entries(columns).map(([column, value]) => [column, value ?? '-']);
  if (views.length === 0) return `${head}\n\nchanges no view`;
  const rows = views.map(({ view, published, expiresAt }) => {
    return [view, published ? 'yes' : 'no', expiresAt ?? 'never'];
  });
  const keys = views.flatMap(({ keys }) => [keys.ranking, keys.players]);
  return [
    head,
    table(['column', 'value'], values),
    table(['view', 'published', 'expires'], rows),
    `keys (in place of GENERATION, put what "hget ${live} ${board}" returns):\n${keys.join('\n')}`,
  ].join('\n\n');
}
