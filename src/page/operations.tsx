import { getJson, useAnswer } from './data.js';
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
    </div>
  );
}

function valueOf(row: Row, name: string) {
  if (name !== 'progress') return row[name];
  const { done, total } = row;
  return <progress aria-label="Progress" value={Number(done)} max={Number(total) || 1} />;
}
