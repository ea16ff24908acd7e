import { boardPath, getJson, useAnswer, type Ban } from './data.js';
import { Facts, ProblemNotice } from './parts.js';

type Row = Readonly<Record<string, unknown>>;
type Fact = readonly [name: string, value: unknown];

/** What the page shows of `GET /v1/status`: title, list, and fields of each row. */
const CARDS = [
  {
    title: 'Lag by partition',
    list: 'partitions',
    fields: ['partition', 'lag', 'applied', 'published'],
  },
  {
    title: 'Builds and verifies',
    list: 'reconciliations',
    fields: [
      'board',
      'kind',
      'state',
      'done',
      'total',
      'progress',
      'rate',
      'secondsLeft',
      'outcome',
    ],
  },
  {
    title: 'Closed windows, not announced',
    list: 'periods',
    fields: ['board', 'window', 'state', 'closesAt', 'reviewEndsAt', 'waitsFor'],
  },
  {
    title: 'The last dead letters',
    list: 'deadLetters',
    fields: ['code', 'count', 'lastAt', 'detail'],
  },
  {
    title: 'Generations',
    list: 'generations',
    fields: ['board', 'role', 'since', 'generation'],
  },
] as const;

export function Operations() {
  const read = () => getJson<Record<(typeof CARDS)[number]['list'], readonly Row[]>>('/v1/status');
  // Polls slowly: for each answer, the service reads Kafka several times.
  const { value, problem } = useAnswer('status', { read, everyMs: 3_000 });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  return (
    <div class="grid">
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {CARDS.map(({ title, list, fields }) => (
        <section key={title} class="card" aria-label={title}>
          <h2>{title}</h2>
          {value[list].map((row, index) => (
            <Facts key={index} facts={fields.map((name) => [name, valueOf(row, name)])} />
          ))}
          {value[list].length === 0 && <p>None</p>}
        </section>
      ))}
      <Bans boards={liveBoards(value.generations)} />
    </div>
  );
}

function liveBoards(generations: readonly Row[]): string[] {
  return generations.filter(({ role }) => role === 'live').map(({ board }) => String(board));
}

/** The page shows at most this many bans of each board. */
const MOST_BANS = 20;

/** The latest bans and erasures of each board. */
function Bans({ boards }: { boards: readonly string[] }) {
  const read = async () => {
    const pages = await Promise.all(boards.map((board) => readBans(board)));
    return pages.flat();
  };
  const key = JSON.stringify(boards);
  const { value, problem } = useAnswer(key, { read, everyMs: 10_000 });
  const title = 'Banned or erased players';
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {(problem !== undefined || value === undefined) && <ProblemNotice problem={problem} />}
      {value?.map((facts, index) => (
        <Facts key={index} facts={facts} />
      ))}
      {value?.length === 0 && <p>None</p>}
    </section>
  );
}

async function readBans(board: string): Promise<Fact[][]> {
  const path = `${boardPath(board)}/bans?limit=${MOST_BANS}`;
  const { bans } = await getJson<{ bans: readonly Ban[] }>(path);
  return bans.map(({ playerId, kind, time, by = null, reason = null }) => [
    ['player', playerId],
    ['board', board],
    ['kind', kind],
    ['time', time],
    ['by', by],
    ['reason', reason],
  ]);
}

function valueOf(row: Row, name: string) {
  if (name !== 'progress') return row[name];
  const { done, total } = row;
  return <progress aria-label="Progress" value={Number(done)} max={Number(total) || 1} />;
}
