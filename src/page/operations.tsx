import type { ComponentChildren } from 'preact';
import { getJson, useAnswer } from './data.js';
import { countText, Head, ProblemNotice, timeText } from './parts.js';

type Row = Readonly<Record<string, unknown>>;

/** The parts of `GET /v1/status` that the page shows. */
interface Status {
  readonly partitions: readonly (Row & { readonly lag: number })[];
  readonly generations: readonly Row[];
  readonly reconciliations: readonly (Row & ProgressProps)[];
  readonly deadLetters: readonly Row[];
}

/** How ingest and builds are, and what was not applied. */
export function Operations() {
  const read = () => getJson<Status>('/v1/status');
  const { value, problem } = useAnswer('status', { read });
  if (value === undefined) return <ProblemNotice problem={problem} />;
  const { partitions, generations, reconciliations, deadLetters } = value;
  const lag = partitions.reduce((sum, partition) => sum + partition.lag, 0);
  const builds = reconciliations.map((row) => ({ ...row, progress: <Progress {...row} /> }));
  return (
    <div class="grid">
      {problem && <ProblemNotice problem={problem} />}
      <Facts
        title={`Lag: ${countText(lag)} events`}
        fields="partition lag applied published"
        rows={partitions}
      />
      <Facts title="Builds and verifies" fields="board kind progress outcome" rows={builds} />
      <Facts title="The last dead letters" fields="code count lastAt detail" rows={deadLetters} />
      <Facts title="Generations" fields="board role since generation" rows={generations} />
    </div>
  );
}

type ProgressProps = Readonly<Record<'done' | 'total' | 'rate', number>> & {
  readonly state: string;
  readonly secondsLeft: number | null;
};

/** The state of a reconciliation; while it runs, its progress. */
function Progress({ state, done, total, rate, secondsLeft }: ProgressProps) {
  if (state !== 'running') return state;
  const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
  return (
    <label>
      {`${countText(done)} of ${countText(total)}, ${countText(rate)}/s${left}`}
      <progress value={done} max={total || 1} />
    </label>
  );
}

/** A table of these fields of the rows. */
function Facts({ title, fields, rows }: { title: string; fields: string; rows: readonly Row[] }) {
  const names = fields.split(' ');
  return (
    <section class="card" tabIndex={0} aria-label={title}>
      <table>
        <caption>{title}</caption>
        <Head names={names} />
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name}>{cellOf(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p>None</p>}
    </section>
  );
}

function cellOf(value: unknown): ComponentChildren {
  if (typeof value === 'number') return countText(value);
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? timeText(value) : (value as ComponentChildren);
}
