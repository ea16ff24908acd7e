import type { ComponentChildren } from 'preact';
import { getJson, POLL_MS, usePolled } from './data.js';
import { countText, labelOf, ProblemNotice, timeText } from './parts.js';

/** The answer of `GET /health`. */
export interface Health {
  readonly status: string;
  readonly problems: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** The parts of `GET /v1/status` that the page shows. */
interface Status {
  readonly partitions: readonly (Row & { readonly lag: number })[];
  readonly boards: readonly Row[];
  readonly generations: readonly Row[];
  readonly recovering: readonly Row[];
  readonly reconciliations: readonly (Row & ProgressProps)[];
  readonly deadLetters: readonly Row[];
}

/** How ingest, the boards and their builds are. */
export function Operations({ health }: { health: Health | undefined }) {
  const read = () => getJson<Status>('/v1/status');
  const { value: status, problem } = usePolled('status', { read, everyMs: POLL_MS });
  return (
    <>
      <h1>Operations</h1>
      <p>
        Health of this process: <strong>{health?.status ?? 'unknown'}</strong>
      </p>
      {(!status || problem) && <ProblemNotice problem={problem} />}
      {status && <Tables {...status} />}
    </>
  );
}

function Tables({ partitions, boards, generations, recovering, ...rest }: Status) {
  const lag = partitions.reduce((sum, partition) => sum + partition.lag, 0);
  const builds = rest.reconciliations.map((row) => ({ ...row, progress: <Progress {...row} /> }));
  return (
    <div class="grid">
      <Facts
        title={`Lag: ${countText(lag)} events`}
        fields="partition committedEnd applied published lag"
        rows={partitions}
      />
      {recovering.length > 0 && (
        <Facts
          title="Redis lost events, which are applied again"
          fields="shard partition applied target"
          rows={recovering}
        />
      )}
      <Facts title="Builds and verifies" fields="board kind progress outcome" rows={builds} />
      <Facts
        title="The last dead letters"
        fields="code count lastAt detail"
        rows={rest.deadLetters}
      />
      <Facts title="Generations" fields="board role since generation" rows={generations} />
      <Facts title="Boards" fields="board views maxViews expired duplicates" rows={boards} />
    </div>
  );
}

type ProgressProps = Readonly<Record<'done' | 'total' | 'rate', number>> & {
  readonly board: string;
  readonly state: string;
  readonly secondsLeft: number | null;
};

/** The state of a reconciliation; while it runs, its progress. */
function Progress({ board, state, done, total, rate, secondsLeft }: ProgressProps) {
  if (state !== 'running') return state;
  const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
  return (
    <>
      <progress value={done} max={total || 1} aria-label={`Progress of ${board}`} />
      <br />
      {`${countText(done)} of ${countText(total)}, ${countText(rate)}/s${left}`}
    </>
  );
}

/** A table of these fields of the rows. */
function Facts({ title, fields, rows }: { title: string; fields: string; rows: readonly Row[] }) {
  const names = fields.split(' ');
  return (
    <section class="card" tabIndex={0} aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {labelOf(name)}
              </th>
            ))}
          </tr>
        </thead>
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
