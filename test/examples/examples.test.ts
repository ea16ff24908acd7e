import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { parseBoardsFile, resolveRecord, type BoardDefinition } from '#board';
import { BoardReader, StoreStatus, type ApplyEntry, type Standings } from '#board-store';
import { decodeText } from '#contracts';
import { StoreFixture, verdictsOf } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const EXAMPLES = 'examples';
const folders = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const pathOf = (folder: string, file: string) => path.join(EXAMPLES, folder, file);
const read = (folder: string, file: string) => readFileSync(pathOf(folder, file), 'utf8');

/** The entry of a line of events. All lines are in one partition, at offsets from 0. */
function toEntry(line: string, offset: number, definition: BoardDefinition): ApplyEntry {
  const decoded = decodeText(line);
  if (!decoded.ok) return { kind: 'deadLetter', offset, ...decoded };
  const { board, occurredAt = NaN } = decoded.event;
  expect(board).toBe(definition.board);
  const resolved = resolveRecord(definition, decoded.event, 0, { offset, timestamp: occurredAt });
  return resolved.ok
    ? { kind: 'event', offset, board, event: resolved.event }
    : { kind: 'deadLetter', offset, code: resolved.code, detail: resolved.detail };
}

/**
 * Applies events in calls of `some` events each, and returns the outcome in the format of
 * standings.txt.
 */
async function run(definition: BoardDefinition, lines: readonly string[], some: number) {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  const deadLetters: string[] = [];
  for (let from = 0; from < lines.length; from += some) {
    const entries = lines
      .slice(from, from + some)
      .map((line, index) => toEntry(line, from + index, definition));
    const through = from + entries.length - 1;
    const call = fixture.call([], { from, entries, through });
    for (const verdict of verdictsOf(await fixture.store.apply(call)))
      if (verdict.kind === 'deadLetter')
        deadLetters.push(`line ${verdict.offset + 1}: ${verdict.code}`);
  }
  const { board } = definition;
  const reader = new BoardReader({ redis, prefix: fixture.keys.prefix });
  const views = await reader.views(board);
  const standings = await Promise.all(
    views.map(({ view }) => reader.standings(board, { view, limit: 100 })),
  );
  const [overview] = await new StoreStatus(redis, fixture.keys).overviews();
  const { expired, duplicates } = overview!;
  return [
    ...standings.flatMap(standingsText),
    ...(deadLetters.length > 0 ? ['dead letters', ...deadLetters] : []),
    ...(expired > 0 ? [`expired: ${expired}`] : []),
    ...(duplicates > 0 ? [`duplicates: ${duplicates}`] : []),
  ];
}

function standingsText({ board, view, entries }: Standings): string[] {
  return [
    `${board}: ${view}`,
    ['rank', 'competition', 'player', ...Object.keys(entries[0]?.columns ?? {})].join(' '),
    ...entries.map(({ rank, competitionRank, playerId, columns }) =>
      [rank, competitionRank, playerId, ...Object.values(columns)].join(' '),
    ),
  ];
}

/** Lines with something in them, one space between words. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' '))
    .filter((line) => line !== '');
}

describe.each(folders)('the example %s', (folder) => {
  const file = pathOf(folder, 'boards.yaml');
  const text = read(folder, 'boards.yaml');

  it('gives the standings of its standings.txt, in one call and in many', async () => {
    const [definition, ...others] = parseBoardsFile(text, file);
    expect(others).toEqual([]);
    const events = linesOf(read(folder, 'events.ndjson'));
    const expected = linesOf(read(folder, 'standings.txt'));
    for (const some of [events.length, 1])
      expect(await run(definition!, events, some)).toEqual(expected);
  });

  it('conforms to the JSON Schema that its first line names for editors', () => {
    const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? 'none';
    const found = path.join(EXAMPLES, folder, schema);
    const validate = new Ajv({ strict: false }).compile(
      JSON.parse(readFileSync(found, 'utf8')) as object,
    );
    validate(parse(text));
    expect(validate.errors ?? []).toEqual([]);
  });
});

const withVoids = folders.filter((folder) => existsSync(pathOf(folder, 'voids.txt')));

it.each(withVoids)(
  'the example %s gives the standings of its standings-voided.txt without the events of its voids.txt',
  async (folder) => {
    const [definition] = parseBoardsFile(read(folder, 'boards.yaml'), folder);
    const events = linesOf(read(folder, 'events.ndjson'));
    const voids = linesOf(read(folder, 'voids.txt')).map((line) => {
      const [partition = NaN, offset = NaN] = line.split('/').map(Number);
      const { occurredAt } = JSON.parse(events[offset]!) as { occurredAt: string };
      return { partition, offset, timestamp: Date.parse(occurredAt) };
    });
    const expected = linesOf(read(folder, 'standings-voided.txt'));
    for (const some of [events.length, 1])
      expect(await run({ ...definition!, voids }, events, some)).toEqual(expected);
  },
);

describe('the examples', () => {
  it('pass "ranklog boards check"', () => {
    const files = folders.map((folder) => pathOf(folder, 'boards.yaml'));
    const command = ['dist/cli/main.js', 'boards', 'check', ...files];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect({ status, lines: stdout.trim().split('\n') }).toEqual({
      status: 0,
      lines: files.map((file) => expect.stringContaining(`${file}: no problems; boards: `)),
    });
  });

  it('are in the index, and the links of the index work', () => {
    const index = readFileSync(path.join(EXAMPLES, 'README.md'), 'utf8');
    const links = [...index.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)];
    expect(links.map(([, folder]) => folder)).toEqual(folders);
    for (const [, , link = ''] of links) expect(existsSync(path.join(EXAMPLES, link))).toBe(true);
  });
});
