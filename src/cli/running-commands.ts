import { ROLES } from '../config/roles.js';
import { MOST_SHARDS } from '../config/settings-formats.js';
import { LazyCommand } from './run-command.js';
import {
  batchPlace,
  collectNamed,
  givenTime,
  IN_ZONE_OF_BOARD,
  rolesOf,
  upTo,
  wholeNumber,
} from './text/options.js';

const start = new LazyCommand('start')
  .description('run ranklog until SIGTERM or SIGINT')
  .option('--roles <roles>', `roles of this process: ${ROLES.join(', ')}`, rolesOf, [...ROLES])
  .notes(
    'The role reconciliation builds the boards of the boards file (RANKLOG_BOARDS). The role ' +
      'ingest applies score events' +
      '\nand publishes the results: at most one process per partition of the score topic has ' +
      'work. The role query answers reads' +
      '\nof the boards over HTTP (RANKLOG_HTTP_PORT).\n\nExample:\n  ranklog topics && ranklog ' +
      'start',
  )
  .runs(async () => (await import('./commands/start.js')).start);

const dev = new LazyCommand('dev')
  .description('start Kafka, Redis and all roles for development, and watch the boards file')
  .argument('[file]', 'the boards file (RANKLOG_BOARDS; default: boards.yaml, written if missing)')
  .option('--no-sample', 'send no sample events; only the written boards.yaml gets some')
  .option('--reset', 'delete the data of this Kafka and Redis first')
  .option('--yes', 'do not ask before --reset')
  .notes(
    `Starts Kafka and Redis with Docker, or natively (on Debian as root, or with Redis, Java and Maven
installed), and keeps their data in .ranklog in the current folder. If KAFKA_BROKERS or REDIS_URL is
set, uses that server instead. Creates topics, accepts score events over HTTP, and prints the address
of the page. After a change of the boards file, shows the plan and, on a terminal, asks whether to
apply it. Ctrl-C ends everything that it started.

Examples:
  ranklog dev
  ranklog dev leagues.yaml
  ranklog dev --reset --yes`,
  )
  .runs(async () => (await import('./commands/dev.js')).dev);

const doctor = new LazyCommand('doctor')
  .description('check settings, servers, rights, topics and the boards file, and say what to do')
  .option('--roles <roles>', `of these roles: ${ROLES.join(', ')}`, rolesOf, [...ROLES])
  .notes(
    'Changes nothing. Exit codes: 2 something is refused, 3 a server does not answer; 0 with ' +
      'or without warnings.\n\nExample:\n  ranklog doctor',
  )
  .answers(async () => (await import('./commands/doctor.js')).doctor);

/** As MAX_VIEWS_OF_AN_EVENT of libs/board, which is not imported because loading it takes time. */
const MOST_VIEWS = 256;
/** The longest id of a player. */
const MOST_ID_BYTES = 128;

const size = new LazyCommand('size')
  .description('estimate the processes, Redis primaries, memory and traffic that a load needs')
  .requiredOption('--events-per-second <n>', 'score events of the busiest minute', wholeNumber)
  .requiredOption(
    '--players <n>',
    'players of all boards together; a player of two boards counts twice',
    wholeNumber,
  )
  .option('--boards <n>', 'boards, all of the same size', wholeNumber, 1)
  .option('--views <n>', 'views that an event changes: windows x dimensions', upTo(MOST_VIEWS), 1)
  .option('--id-bytes <n>', 'length of the id of a player', upTo(MOST_ID_BYTES), 12)
  .option('--redis-gb <n>', 'GB of memory that one Redis may use', wholeNumber, 32)
  .option(
    '--partitions <n>',
    'partitions of the score topic (default: two for each process)',
    wholeNumber,
  )
  .option(
    '--shards <n>',
    'shards (default: 1 for one Redis, 64 or more for a cluster)',
    upTo(MOST_SHARDS),
  )
  .notes(
    `Needs no server. CPU is of the machine that docs/performance.md names; npm run bench:scale in a clone
compares it with that of yours. Half of each core is left for catching up after an outage.
Exit code 1: something can't work as asked, such as a board that one Redis can't hold.

Example:
  ranklog size --events-per-second 50000 --players 100000000 --boards 1000 --views 2`,
  )
  .answers(async () => (await import('./commands/size.js')).size);

const topics = new LazyCommand('topics')
  .description('create missing topics, add missing partitions, check the score topic')
  .option('--partitions <n>', 'partitions of a new score topic (RANKLOG_PARTITIONS)', wholeNumber)
  .option('--allow-short-history', 'accept a score topic that deletes old events')
  .option('--adopt', 'move Redis and the topics to these settings; processes with old ones stop')
  .notes(
    'Safe to repeat. Score events may be compressed with gzip, snappy, lz4 or zstd, or not ' +
      'at all.\n\nExample:\n  ranklog topics --partitions 12',
  )
  .answers(async () => (await import('./commands/topics.js')).topics);

const skip = new LazyCommand('skip')
  .description('give up a batch of score events that cannot be read, for all boards and for ever')
  .argument('<batch>', 'as the error names it: TOPIC/PARTITION/FIRST-LAST', batchPlace)
  .notes(
    'Refuses all other offsets (1). Restart the processes of ranklog afterwards.\n\n' +
      'Example:\n  ranklog skip ranklog.score-events/0/17-23',
  )
  .answers(async () => (await import('./commands/skip.js')).skip);

const produce = new LazyCommand('produce')
  .description('send score events from a file with one JSON object a line, plain or gzip')
  .argument('<file>', '- for standard input')
  .option('--rate <n>', 'send at most n events per second', wholeNumber)
  .option('--json', 'print the summary as JSON')
  .notes(
    'Bad lines, and events whose windows have all closed, are reported with their number and ' +
      'skipped;\nthe exit code is then 1.\n\nExample:\n  ranklog produce events.ndjson.gz',
  )
  .runs(async () => (await import('./commands/produce.js')).produce);

const importScores = new LazyCommand('import')
  .description('make opening events of players and scores from elsewhere; safe to repeat')
  .argument('<board>')
  .argument('<source>', 'a CSV or NDJSON file, - for standard input, or the URL of a Redis')
  .option('--key <key>', 'the sorted set in that Redis')
  .option('--round', "round the scores to the column's decimals")
  .option(
    '--at <time>',
    `the time of the events of rows without occurredAt; ${IN_ZONE_OF_BOARD}`,
    givenTime,
  )
  .option('--attribute <name=value>', 'an attribute of rows without any; repeatable', collectNamed)
  .option('--id <id>', 'a name: each player has one opening event of each import', 'opening')
  .option('--dry-run', 'send nothing; report what would be refused, and ties')
  .option('--compare', 'send nothing; compare the source with the board, player by player')
  .option('--view <view>', 'the view to compare (default: the overall ranking)')
  .option('--allow-partial-history', 'import although the beginning of the log is gone')
  .notes(
    `A row has playerId, delta or deltas, and maybe occurredAt and attributes. In CSV, each input and each
attribute of the board has a column. A player has one row: send events with "ranklog produce".
Repeating an import sends only what the log lacks, also after a crash.
Exit code 1: rows are refused (each is written to standard error; if a player has several rows, nothing
is sent), or the comparison finds a difference.

Examples:
  ranklog import arena scores.csv --at 2026-11-20T00:00:00Z --dry-run
  ranklog import arena redis://localhost:6379 --key highscores --at 2026-11-20T00:00:00Z
  ranklog import arena redis://localhost:6379 --key highscores --compare`,
  )
  .answers(async () => (await import('./commands/import.js')).importScores);

/**
 * The commands that set up and run ranklog, and those that send it score events, in the order of
 * the help.
 */
export const RUNNING = [start, dev, doctor, size, topics, skip, produce, importScores];

export const config = new LazyCommand('config')
  .description('show all settings and their sources; passwords are hidden')
  .answers(async () => (await import('./commands/config.js')).config);
