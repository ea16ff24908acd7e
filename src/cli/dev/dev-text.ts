import type { BoardDefinition } from '#board';
import { SERVER_VARIABLES, type ServerName } from '#servers';
import type { Settings } from '../../config/settings.js';
import { DEV_FOLDER } from './dev-servers.js';

export interface DevFacts {
  readonly settings: Settings;
  readonly definitions: readonly BoardDefinition[];
  /** The servers that this process has started. */
  readonly addresses: Partial<Record<ServerName, string>>;
  /** Whether the boards file is not the default one. */
  readonly namesFile: boolean;
  readonly sends: boolean;
}

/** Says which page to open, and what to try. */
export function devText(facts: DevFacts): string {
  const { settings, definitions, sends } = facts;
  const { httpHost, httpPort, boards } = settings;
  const url = `http://${httpHost === '0.0.0.0' ? '127.0.0.1' : httpHost}:${httpPort}`;
  const [definition] = definitions;
  const page = definitions.length === 1 ? `/#board=${definition?.board ?? ''}` : '/';
  const sample = `Sample events arrive until ${boards} changes. "ranklog dev --no-sample" sends none.`;
  return [
    `The page: ${url}${page}`,
    ...exportLines(facts),
    ...(definition === undefined ? [] : [`Send a score event:\n  ${curlLine(url, definition)}`]),
    ...(sends ? [sample] : []),
    `Change ${boards} to see what the change would do to the boards.`,
    endLine(facts),
  ].join('\n');
}

function exportLines(facts: DevFacts): string[] {
  const variables = variablesOf(facts);
  if (variables.length === 0) return [];
  return [`Commands in another terminal need:\n  export ${variables.join(' ')}`];
}

/** The environment that other commands need to reach the same ranklog. */
export function variablesOf({ addresses, namesFile, settings }: DevFacts): string[] {
  const servers = Object.entries(addresses).map(
    ([name, address]) => `${SERVER_VARIABLES[name as ServerName]}=${address}`,
  );
  const file = namesFile ? [`RANKLOG_BOARDS=${quoted(settings.boards)}`] : [];
  return [...servers, ...file];
}

function curlLine(url: string, definition: BoardDefinition): string {
  const event = JSON.stringify(exampleEvent(definition));
  const target = `${url}/v1/boards/${encodeURIComponent(definition.board)}/events`;
  return `curl -H 'content-type: application/json' -d ${quoted(event)} ${target}`;
}

/** An event with a value for each input, and with each attribute that a dimension needs. */
function exampleEvent({ columns, dimensions }: BoardDefinition) {
  const inputs = new Set(columns.flatMap(({ name, from }) => (from ? Object.keys(from) : [name])));
  const names = new Set(dimensions.flat());
  const all = (keys: ReadonlySet<string>, value: string | number) =>
    Object.fromEntries([...keys].map((key) => [key, value]));
  return {
    playerId: 'ada',
    ...(inputs.size === 1 ? { delta: 10 } : { deltas: all(inputs, 10) }),
    ...(names.size === 0 ? {} : { attributes: all(names, 'x') }),
  };
}

function endLine({ addresses }: DevFacts): string {
  const started = Object.keys(addresses).length > 0;
  return started
    ? `Ctrl-C ends all of it. The data stays in ${DEV_FOLDER}; "ranklog dev --reset" starts ` +
        'without it.'
    : 'Ctrl-C ends ranklog. It uses the Kafka and Redis of the settings, and leaves them running.';
}

/** Quotes a text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
