import { boardPath, getJson, useAnswer, type Ban } from './data.js';
import { Facts, ProblemNotice } from './parts.js';

type Row = Readonly<Record<string, unknown>>;

/** What the page shows of `GET /v1/status`: title, list, and fields of each row. */
const CARDS = [
  ['Lag by partition', 'partitions', 'partition lag applied published'],
  [
    'Builds and verifies',
    'reconciliations',
    'board kind state done total progress rate secondsLeft outcome',
  ],
  ['Closed windows, not announced', 'periods', 'board window state closesAt reviewEndsAt waitsFor'],
  ['The last dead letters', 'deadLetters', 'code count lastAt detail'],
  ['Generations', 'generations', 'board role since generation'],
] as const;

export function Operations() {
  const read = () => getJson<Record<(typeof CARDS)[number][1], readonly Row[]>>('/v1/status');
  // Each answer takes the service several reads of Kafka.
  const { value, problem } = useAnswer('status', { read, everyMs: 3_000 });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  return (
    <div class="grid">
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {CARDS.map(([title, list, fields]) => (
        <section key={title} class="card" aria-label={title}>
          <h2>{title}</h2>
          {value[list].map((row, index) => (
            <Facts
              key={index}
              facts={fields.split(' ').map((name) => [name, valueOf(row, name)])}
            />
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

/** How many players of each board the page shows. */
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

async function readBans(board: string) {
  const path = `${boardPath(board)}/bans?limit=${MOST_BANS}`;
  const { bans } = await getJson<{ bans: readonly Ban[] }>(path);
  return bans.map(({ playerId: player, kind, time, by = null, reason = null }) =>
    Object.entries({ player, board, kind, time, by, reason }),
  );
}

function valueOf(row: Row, name: string) {
  if (name !== 'progress') return row[name];
  const { done, total } = row;
  return <progress aria-label="Progress" value={Number(done)} max={Number(total) || 1} />;
}
