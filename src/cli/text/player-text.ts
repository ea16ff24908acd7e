import { formatTime, type BoardDefinition } from '#board';
import type { BanEntry, GenerationOverview, KeptState } from '#board-store';
import type { PlayerRecord, PlayerRecordKind, Source, TopicNames } from '#contracts';
import { table } from './output.js';
import { placeText } from './score-text.js';
import { countText, durationText } from './value-text.js';

const VERBS: Readonly<Record<PlayerRecordKind, string>> = {
  banned: 'ban',
  unbanned: 'unban',
  erased: 'erase',
};

const MOST_SHOWN = 20;

/** A player of a board, as JSON. */
export type PlayerOfBoard = Pick<PlayerRecord, 'board' | 'playerId'>;

/** A record that was sent. `counts`: null until it is applied; false if another record counts. */
export interface SentRecord extends PlayerOfBoard, Pick<Source, 'partition' | 'offset'> {
  readonly counts: boolean | null;
}

/** A player who is in the wanted state already. A player who was never banned has no record. */
type StandingPlayer = BanJson | (PlayerOfBoard & { readonly kind: PlayerRecordKind });

/**
 * The records to send, the players who are in this state already, and the refused ones: an unban
 * does not undo an erasure.
 */
export interface SortedRecords {
  readonly kind: PlayerRecordKind;
  readonly toSend: readonly PlayerRecord[];
  readonly already: readonly StandingPlayer[];
  readonly refused: readonly BanJson[];
}

/** `p-17 on arena, p-18 on arena; and 3 more` */
export function playersText(players: readonly PlayerOfBoard[]): string {
  const shown = players.slice(0, MOST_SHOWN).map(playerOnText);
  return `${shown.join(', ')}${moreText(players)}`;
}

function playerOnText({ board, playerId }: PlayerOfBoard): string {
  return `${playerId} on ${board}`;
}

function moreText({ length }: { readonly length: number }): string {
  return length > MOST_SHOWN ? `; and ${countText(length - MOST_SHOWN)} more` : '';
}

export function refusalText({ board, playerId, partition, offset }: BanJson): string {
  return (
    `${playerId} is erased on ${board}, which an unban does not undo; "ranklog scores void ` +
    `${board} --at ${partition}/${offset}" does: it builds the board without the erasure`
  );
}

/** Says what a command would do, or that there is nothing to do. */
export function planText(plan: SortedRecords): string[] {
  const { kind, toSend, already } = plan;
  if (toSend.length > 0)
    return [
      ...alreadyText(plan),
      `to ${VERBS[kind]}: ${toSend.length} player(s): ${playersText(toSend)}`,
    ];
  return already.length > 0
    ? [`nothing to do: ${alreadyText(plan).join('\n')}`]
    : ['nothing to do'];
}

export function alreadyText({ kind, already }: Pick<SortedRecords, 'kind' | 'already'>): string[] {
  if (already.length === 0) return [];
  if (kind === 'unbanned') return [`not banned: ${playersText(already)}`, MAY_BE_BANNED];
  const shown = already.slice(0, MOST_SHOWN).map((player) => {
    return `${playerOnText(player)}: already ${'time' in player ? entryText(player) : player.kind}`;
  });
  const isBanned = kind === 'banned' && already.some((player) => player.kind === kind);
  const lines = `${shown.join('\n')}${moreText(already)}`;
  return isBanned ? [lines, 'to change a reason, unban the player and ban again'] : [lines];
}

const MAY_BE_BANNED =
  'A ban that was sent a moment ago may not be applied yet: "ranklog players list BOARD ' +
  'PLAYER" shows it once it is';

export function sentText(sent: readonly SentRecord[], timeoutMs: number): string {
  const rows = sent.map(({ board, playerId, ...place }) => [placeText(place), board, playerId]);
  const waiting = sent.filter(({ counts }) => counts === null).length;
  const lost = sent.filter(({ counts }) => counts === false);
  const applied =
    waiting === 0
      ? 'applied'
      : `sent, ${countText(waiting)} not applied within ${durationText(timeoutMs / 1_000)}. ` +
        'Ranklog will still apply what is in the log: "ranklog players list BOARD PLAYER" ' +
        'shows it then';
  return [
    table(['record', 'board', 'player'], rows),
    '',
    `${countText(sent.length)} record(s) ${applied}`,
    ...(lost.length > 0 ? [lostText(lost)] : []),
  ].join('\n');
}

function lostText(lost: readonly SentRecord[]): string {
  return (
    `without effect: ${playersText(lost)}: a later record counts ("ranklog players list BOARD ` +
    'PLAYER"), or ranklog refused it ("ranklog dead-letters list")'
  );
}

export type BanJson = ReturnType<typeof banJson>;

/** A player who is banned or erased, as JSON: a line of a file that `--file` reads. */
export function banJson(board: string, { time, ...entry }: BanEntry) {
  return { board, ...entry, time: formatTime(time) };
}

export function bansTable(bans: readonly BanJson[]): string {
  const rows = bans.map(({ playerId, kind, time, by, reason, ...place }) => {
    return [playerId, kind, time, by ?? '-', reason ?? '-', placeText(place)];
  });
  return table(['player', 'state', 'since', 'by', 'reason', 'record'], rows);
}

/** `banned at 2026-11-20T09:00:00.000Z by mod-1 ("speed hack"), record 3/120` */
export function entryText({ kind, time, by, reason, ...place }: BanJson): string {
  const whom = by === undefined ? '' : ` by ${by}`;
  const why = reason === undefined ? '' : ` (${JSON.stringify(reason)})`;
  return `${kind} at ${time}${whom}${why}, record ${placeText(place)}`;
}

/** Where the ids of erased players remain. */
interface Remains {
  readonly boards: readonly BoardDefinition[];
  readonly generations: readonly GenerationOverview[];
  readonly topics: TopicNames;
}

export function remainsText({ boards, generations, topics }: Remains): string {
  const names = boards.map(({ board }) => board);
  const old = generations.filter(({ board, role }) => {
    return names.includes(board) && (role === 'previous' || role === 'snapshot');
  });
  return [
    'The id remains in:',
    `- the score topic ${topics.scoreEvents}, with all events and this record`,
    `- ${topics.rankChanges} and ${topics.leaderChanges}, for the retention of the topic`,
    `- ${topics.periodResults} and ${topics.deadLetters}, until you delete them`,
    ...boards.flatMap(eventIdsText),
    ...old.map(remainsOf),
    '- the ban register of the board, backups and logs',
    'docs/privacy.md says how long, and what to do about it.',
  ].join('\n');
}

function eventIdsText({ board, deduplicateMs }: BoardDefinition): string[] {
  if (deduplicateMs === undefined) return [];
  const span = durationText(deduplicateMs / 1_000);
  return [
    `- the event ids of ${board} (deduplicate), each until its partition has an event of the ` +
      `board that is ${span} later`,
  ];
}

function remainsOf({ board, generation, role, keptUntil }: GenerationOverview): string {
  if (role === 'snapshot')
    return `- snapshot ${generation} of ${board}, until "ranklog boards discard ${generation}"`;
  const until = keptUntil === undefined ? '' : `, until ${formatTime(keptUntil)}`;
  return `- the previous generation of ${board}${until}`;
}

/** A player of a board, and the state that each view keeps of the player. */
interface PlayerAnswer {
  readonly board: string;
  readonly playerId: string;
  readonly ban: BanJson | null;
  readonly kept: readonly KeptState[];
}

export function playerText({ board, playerId, ban, kept }: PlayerAnswer): string {
  const what = ban === null ? 'neither banned nor erased' : entryText(ban);
  const first = `${playerId} on ${board}: ${what}`;
  if (kept.length === 0) return `${first}; no view keeps a score`;
  const names = Object.keys(kept[0]?.columns ?? {});
  const rows = kept.map(({ view, columns, reachedAt }) => {
    return [view, ...names.map((name) => columns[name] ?? '-'), reachedAt];
  });
  return `${first}\n\n${table(['view', ...names, 'reached'], rows)}`;
}
