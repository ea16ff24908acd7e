import type { BoardDefinition } from '#board';
import type { Neighbour, PlayerStanding, Standing } from '#board-store';
import { table } from './output.js';
import type { PlayerHistory, HistoryEntry } from './player-history.js';
import { countText } from './value-text.js';

/** What `explain --json` prints: the place of a player, and the events of the log that make it. */
export interface Explanation extends ReturnType<typeof neighboursOf> {
  readonly board: string;
  readonly playerId: string;
  readonly view: string;
  readonly stale: boolean;
  readonly size: number;
  readonly standing: Standing | null;
  /** The offsets that were read; `cutFrom` is the first offset of the board's events that the log has lost, if any. */
  readonly log: { partition: number; from: number; through: number; cutFrom: number | null };
  readonly counts: PlayerHistory['counts'];
  /** The last events, newest last. */
  readonly events: readonly HistoryEntry[];
  /** What the events make of the player; null if none counts. */
  readonly made: NonNullable<PlayerHistory['made']> | null;
  /** Whether they make the place that the board shows. */
  readonly matches: boolean;
}

/** The neighbours of a player, each with what decides between the two. */
export function neighboursOf(definition: BoardDefinition, place: PlayerStanding) {
  const { standing, above, below } = place;
  const decided = (neighbour: Neighbour | null | undefined, [better, worse]: Pair) =>
    neighbour && better && worse
      ? { ...neighbour, decidedBy: decisionText(definition, better, worse) }
      : null;
  return {
    above: decided(above, [above, standing]),
    below: decided(below, [standing, below]),
  };
}

type Pair = readonly [better: Standing | null | undefined, worse: Standing | null | undefined];

/** `points 12 > 10`, or the reach times or ids of players with equal columns, the better one first. */
function decisionText({ columns, ties }: BoardDefinition, better: Standing, worse: Standing) {
  const column = columns.find(({ name }) => better.columns[name] !== worse.columns[name]);
  if (column !== undefined) {
    const [more, less] = [better, worse].map(({ columns: values }) => values[column.name]);
    return `${column.name} ${more} ${column.order === 'desc' ? '>' : '<'} ${less}`;
  }
  if (ties === 'none' || better.reachedAt === worse.reachedAt)
    return `equal in all; the id ${better.playerId} comes before ${worse.playerId}`;
  const order = ties === 'earliest' ? 'before' : 'after';
  return `equal columns; reached ${better.reachedAt} ${order} ${worse.reachedAt}`;
}

const OUTCOMES = {
  counted: 'counted',
  unchanged: 'changed nothing',
  duplicate: 'dropped as a duplicate',
  outsideWindow: 'outside the window',
  otherDimensions: 'of other dimensions',
  deadLetter: 'dead letter',
} as const;

export function explanationText(found: Explanation): string {
  const { board, playerId, view, size, standing, above, below } = found;
  const place = standing === null ? 'not ranked' : `rank ${standing.rank} of ${size}`;
  const neighbours = [
    above && `${above.playerId} is in front: ${above.decidedBy}`,
    below && `${below.playerId} is behind: ${below.decidedBy}`,
  ];
  return [
    [`${playerId} on ${board}, ${view}: ${place}`, ...neighbours].filter(Boolean).join('\n'),
    eventsTable(found.events),
    [countsText(found), madeText(found), leftOutText(found)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function eventsTable(events: readonly HistoryEntry[]): string {
  if (events.length === 0) return '';
  const names = Object.keys(events.find(({ values }) => values !== undefined)?.values ?? {});
  const rows = events.map(({ offset, occurredAt, values, outcome, detail, after }) => {
    const text = detail ?? (after && columnsText(after));
    const effect = OUTCOMES[outcome] + (text === undefined ? '' : `: ${text}`);
    return [offset, occurredAt, ...names.map((name) => values?.[name] ?? '-'), effect];
  });
  return table(['offset', 'occurred', ...names, 'effect'], rows);
}

function columnsText(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map((pair) => pair.join(' '))
    .join(', ');
}

function countsText({ counts, events, log }: Explanation): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(counts).map(([outcome, count]) => {
    return `${countText(count)} ${OUTCOMES[outcome as keyof typeof OUTCOMES]}`;
  });
  const where = `partition ${log.partition}, offsets ${log.from} to ${log.through}`;
  const shown = events.length < total ? `; the last ${events.length} are shown` : '';
  return `${countText(total)} events (${where}): ${parts.join(', ') || 'none'}${shown}`;
}

function madeText({ made, matches, standing, stale }: Explanation): string {
  const text = (state: { columns: Standing['columns']; reachedAt: string } | null) =>
    state === null ? 'no place' : `${columnsText(state.columns)}, reached ${state.reachedAt}`;
  if (matches) return `They make ${text(made)}, as the board shows.`;
  const reasons = stale
    ? 'Redis lacks events that are being applied again'
    : 'events are under other keys, or were refused for maxViews or a sum in another view; or partitions were added ("ranklog boards verify" compares the board with the whole log)';
  return `They make ${text(made)}, but the board shows ${text(standing)}: ${reasons}.`;
}

function leftOutText({ playerId, log }: Explanation): string {
  const cut =
    log.cutFrom === null ? '' : ` The log has lost offsets ${log.cutFrom} to ${log.from - 1}.`;
  return `Left out: events under another key than "${playerId}", which may be in other partitions.${cut}`;
}
