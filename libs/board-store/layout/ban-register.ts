import { formatTime } from '#board';
import type { DecodedPlayerRecord, PlayerRecordKind } from '#contracts';
import type { RedisClient } from './redis-client.js';
import { scanHash } from './scans.js';

/**
 * An entry of the ban register: the player record that counts, and where the score topic has it.
 */
export interface BanEntry {
  readonly playerId: string;
  readonly kind: PlayerRecordKind;
  /** In ms. Of two records on a player, the later one counts. */
  readonly time: number;
  readonly partition: number;
  readonly offset: number;
  readonly reason?: string;
  readonly by?: string;
}

/** An entry as lua/includes/ban-register.lua reads it. */
export function banText(
  { kind, occurredAt, reason, by }: DecodedPlayerRecord,
  { partition, offset }: { readonly partition: number; readonly offset: number },
): string {
  return `${kind} ${occurredAt} ${partition} ${offset} ${JSON.stringify({ reason, by })}`;
}

/** The flag `s` makes `.` match U+2028, which a reason may contain. */
const ENTRY = /^(\w+) (-?\d+) (\d+) (\d+) (.*)$/s;

export function parseBan(playerId: string, text: string): BanEntry {
  const [, kind, time, partition, offset, texts = '{}'] = ENTRY.exec(text) ?? [];
  return {
    playerId,
    kind: kind as PlayerRecordKind,
    time: Number(time),
    partition: Number(partition),
    offset: Number(offset),
    ...(JSON.parse(texts) as Pick<BanEntry, 'reason' | 'by'>),
  };
}

/** Describes an entry in a difference that verify found: `banned at 2026-11-20T09:00:00.000Z`. */
export function describeBan(text: string): string {
  const { kind, time } = parseBan('', text);
  return `${kind} at ${formatTime(time)}`;
}

/**
 * All entries of a generation with their texts, page by page. Finds every entry that exists during
 * the whole scan.
 */
export async function* scanBans(
  redis: RedisClient,
  key: string,
): AsyncGenerator<{ readonly entry: BanEntry; readonly text: string }[]> {
  for await (const page of scanHash(redis, key))
    yield page.map(([playerId, text]) => ({ entry: parseBan(playerId, text), text }));
}
