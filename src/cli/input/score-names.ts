import { CommandError, EXIT } from '../text/exit-codes.js';
import { recordName, type RecordName } from '../text/options.js';
import { scoreNameText, type ScoreName } from '../text/score-text.js';
import { readFileLines } from './lines.js';

export interface NameOptions {
  readonly player?: readonly string[];
  readonly event?: readonly string[];
  readonly at: readonly RecordName[];
  readonly file?: string;
}

/** The score events that the options name, each once. @throws CommandError */
export async function readScoreNames(options: NameOptions): Promise<ScoreName[]> {
  const { player = [], event = [], at, file } = options;
  if (player.length !== event.length)
    throw new CommandError(
      `there are ${player.length} --player and ${event.length} --event; give each event its player`,
      EXIT.usage,
    );
  const names = new Map<string, ScoreName>();
  for (const [index, playerId] of player.entries()) {
    const name = { kind: 'id', playerId, eventId: event[index] ?? '' } as const;
    names.set(scoreNameText(name), name);
  }
  const placesOfFile = file === undefined ? [] : await readPlaces(file);
  for (const place of [...at, ...placesOfFile]) {
    const name = { kind: 'place', ...place } as const;
    names.set(scoreNameText(name), name);
  }
  if (names.size === 0)
    throw new CommandError('name events with --player and --event, --at or --file', EXIT.usage);
  return [...names.values()];
}

async function readPlaces(file: string): Promise<RecordName[]> {
  const places: RecordName[] = [];
  for await (const { number, text } of readFileLines(file)) {
    if (text?.trim() === '') continue;

    const [first = ''] = text?.trim().split(/\s/, 1) ?? []; // "scores list" adds the player
    const place = recordName(first);
    if (place === undefined)
      throw new CommandError(
        `${file}:${number}: ${JSON.stringify(text)} is not allowed; use PARTITION/OFFSET, such ` +
          'as 0/17',
        EXIT.usage,
      );
    places.push(place);
  }
  return places;
}
