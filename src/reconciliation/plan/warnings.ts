import { MOST_VIEWS_OF_AN_EVENT, type BoardDefinition } from '#board';
import { MOST_ATTRIBUTE_VALUES } from '#contracts';
import { isPublishOnly, type FieldChange } from './field-changes.js';
import type { SampleFacts } from './sample-facts.js';

/** What one would want to know of a board before it is built. */
export function warningsOf(
  definition: BoardDefinition,
  {
    fields,
    next,
    live,
  }: { fields: readonly FieldChange[]; next: SampleFacts; live?: SampleFacts | undefined },
): string[] {
  return [
    ...(isPublishOnly(fields)
      ? [
          'only what is published changes: every rank stays as it is, and yet the board is built again, as a generation has one definition',
        ]
      : []),
    ...manyViews(definition, next.hasLists),
    ...leftOut(next, live),
  ];
}

/** An event beyond the bound moves nothing. Seasons need not overlap, so this says what can be. */
function manyViews({ windows, dimensions }: BoardDefinition, hasLists: boolean): string[] {
  const views = (values: number) =>
    windows.length * dimensions.reduce((sum, names) => sum + values ** names.length, 0);
  if (views(hasLists ? MOST_ATTRIBUTE_VALUES : 1) <= MOST_VIEWS_OF_AN_EVENT) return [];
  const parts = `${windows.length} window(s) times ${dimensions.length} combination(s) of dimensions`;
  if (views(1) > MOST_VIEWS_OF_AN_EVENT)
    return [
      `${parts}: an event may move up to ${views(1)} views, and one that would move more than ${MOST_VIEWS_OF_AN_EVENT} is left out`,
    ];
  let values = 2;
  while (views(values) <= MOST_VIEWS_OF_AN_EVENT) values += 1;
  return [
    `${parts}: an event with lists of ${values} values in its attributes may move ${views(values)} views, and one that would move more than ${MOST_VIEWS_OF_AN_EVENT} is left out`,
  ];
}

/** Events of the log that the live definition takes and the new one does not. */
function leftOut(next: SampleFacts, live: SampleFacts | undefined): string[] {
  return [...next.rejected].flatMap(([code, count]) => {
    const more = count - (live?.rejected.get(code) ?? 0);
    const all = next.events + sum(next.rejected.values());
    return more <= 0
      ? []
      : [`${more} of ${all} sampled events of the board would be left out: ${code}`];
  });
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
