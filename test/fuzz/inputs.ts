import { readdirSync, readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { PROPERTY_TIMEOUT, runs } from '../model/arbitrary.js';
import { BOARDS, EVENTS } from '../openapi/known.js';

const EXAMPLES = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `examples/${name}`);
const GOLDEN = ['score-event', 'score-event-lists']
  .map((name) => readFileSync(`test/contracts/golden/${name}.json`, 'utf8'))
  .map((text) => (JSON.parse(text) as { value: string }).value);

const [, EVERY_FIELD = ''] =
  /```yaml\n(boards:[^]*?)```/.exec(readFileSync('docs/reference/boards-file.md', 'utf8')) ?? [];
const WITH_ALIASES = `
boards:
  one: &one { columns: &columns [{ name: points, min: 0.5, decimals: 1 }], ties: none }
  two: { columns: *columns, windows: [all, &month month, { interval: hourly, cron: '0 * * * *', start: 2026-01-01 }] }
  three: *one
`;

export const BOARDS_FILES: readonly string[] = [
  ...EXAMPLES.map((folder) => readFileSync(`${folder}/boards.yaml`, 'utf8')),
  ...[BOARDS, EVERY_FIELD, WITH_ALIASES],
];

/** The boards of the files; the last one of each name. */
export const DEFINITIONS: ReadonlyMap<string, BoardDefinition> = new Map(
  BOARDS_FILES.flatMap((text) => parseBoardsFile(text, 'boards.yaml')).map((definition) => [
    definition.board,
    definition,
  ]),
);

/** Score events: those of the examples fit their boards. */
export const EVENT_TEXTS: readonly string[] = [
  ...EXAMPLES.flatMap((folder) =>
    readFileSync(`${folder}/events.ndjson`, 'utf8').trim().split('\n'),
  ),
  ...[...EVENTS, ...GOLDEN],
];

/**
 * Checks a property of as many inputs; with RANKLOG_TEST_RUNS, of a share of those (in percent).
 * Prints how many.
 */
export async function checkInputs(
  property: fc.IProperty<[unknown]> | fc.IAsyncProperty<[unknown]>,
  { usual, share }: { usual: number; share: number },
): Promise<void> {
  const { numRuns, ...settings } = runs(usual);
  const inputs = process.env['RANKLOG_TEST_RUNS'] ? Math.ceil((numRuns * share) / 100) : usual;
  const begun = performance.now();
  await fc.assert(property as fc.IAsyncProperty<[unknown]>, { ...settings, numRuns: inputs });
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const { currentTestName = '' } = expect.getState();
  process.stderr.write(
    `${currentTestName}: ${inputs} inputs, seed ${settings.seed}, ${seconds} s\n`,
  );
}

export const FUZZ_TIMEOUT = PROPERTY_TIMEOUT;

const MOST_MS = 50;
/** For inputs that are larger than usual. */
const MOST_MS_PER_KIB = 1;

/**
 * Runs a parser.
 * @throws if it takes long for the length of its input. On a busy machine the process may have
 * waited, so the CPU time decides.
 */
export function timed<T>(length: number, parse: () => T): T {
  const begun = performance.now();
  const result = parse();
  const limit = MOST_MS + (length / 1_024) * MOST_MS_PER_KIB;
  const elapsed = performance.now() - begun;
  if (elapsed <= limit) return result;
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    parse();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  const ms = Math.min(...times);
  if (ms > limit) throw new Error(`${length} characters took ${ms} ms`);
  return result;
}
