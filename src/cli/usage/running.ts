import { ROLES } from '../../config/roles.js';
import { LazyCommand } from '../run-command.js';
import { rolesOf, wholeNumber } from './options.js';

export const start = new LazyCommand('start')
  .description('run ranklog until SIGTERM or SIGINT')
  .option('--roles <roles>', `roles of this process: ${ROLES.join(', ')}`, rolesOf, [...ROLES])
  .notes(
    'The role reconciliation builds the boards of the boards file (RANKLOG_BOARDS). The role ingest applies score events' +
      '\nand publishes the results: at most one process per partition of the score topic has work. The role query answers reads' +
      '\nof the boards over HTTP (RANKLOG_HTTP_PORT).\n\nExample:\n  ranklog topics && ranklog start',
  )
  .runs(async () => (await import('../commands/start.js')).start);

export const doctor = new LazyCommand('doctor')
  .description('check settings, servers, rights, topics and the boards file, and say what to do')
  .option('--roles <roles>', `of these roles: ${ROLES.join(', ')}`, rolesOf, [...ROLES])
  .notes(
    'Changes nothing. Exit codes: 2 something is refused, 3 a server does not answer; 0 with or without warnings.\n\nExample:\n  ranklog doctor',
  )
  .answers(async () => (await import('../commands/doctor.js')).doctor);

export const topics = new LazyCommand('topics')
  .description('create missing topics, add missing partitions, check the score topic')
  .option('--partitions <n>', 'partitions of a new score topic (RANKLOG_PARTITIONS)', wholeNumber)
  .option('--allow-short-history', 'accept a score topic that deletes old events')
  .option('--adopt', 'move Redis and the topics to these settings; processes with old ones stop')
  .notes('Safe to repeat.\n\nExample:\n  ranklog topics --partitions 12')
  .answers(async () => (await import('../commands/topics.js')).topics);

export const produce = new LazyCommand('produce')
  .description('send score events from a file with one JSON object a line, plain or gzip')
  .argument('<file>', '- for standard input')
  .option('--rate <n>', 'send at most n events per second', wholeNumber)
  .option('--json', 'print the summary as JSON')
  .notes(
    'Bad lines are reported with their number and skipped; the exit code is then 1.\n\nExample:\n  ranklog produce events.ndjson.gz',
  )
  .runs(async () => (await import('../commands/produce.js')).produce);

export const config = new LazyCommand('config')
  .description('show all settings and their sources; passwords are hidden')
  .answers(async () => (await import('../commands/config.js')).config);
