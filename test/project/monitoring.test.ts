import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { promtool } from '../../scripts/promtool.mjs';
import { Metrics } from '../../src/infra/metrics.js';
import { runCommand } from '../support/project.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { groups } = parse(readFileSync('monitoring/alerts.yml', 'utf8')) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readFileSync('monitoring/grafana-dashboard.json', 'utf8')) as {
  panels: Panel[];
};
const queries = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => {
    const used = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    return { title, expr: expr.replaceAll('$__rate_interval', '5m'), used };
  }),
);

/** Labels by the name of each series that a scrape may have, with those that Prometheus adds. */
async function knownSeries(): Promise<Map<string, ReadonlySet<string>>> {
  const { registry } = new Metrics();
  await registry.metrics(); // Node's metrics have labels only once they are read
  const series = new Map([['up', new Set(['job', 'instance'])]]);
  for (const metric of registry.getMetricsAsArray()) {
    const { name, type, labelNames } = metric as unknown as Record<'name' | 'type', string> & {
      labelNames: string[];
    };
    const labels = ['job', 'instance', ...labelNames];
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const part of parts)
      series.set(name + part, new Set([...labels, ...(part === '_bucket' ? ['le'] : [])]));
  }
  return series;
}

/** What an expression uses that no scrape has: series, and labels that its series lack. */
async function unknownIn(expr: string, used: readonly string[] = []): Promise<string[]> {
  const known = await knownSeries();
  const names = expr.match(/\b(?:ranklog|process|nodejs)_\w+|\bup\b/g) ?? [];
  if (names.length === 0) return ['no series'];
  const selectors = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inner = '']) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => ({ name, label })),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  return [
    ...names.filter((name) => !known.has(name)),
    ...selectors
      .filter(({ name, label }) => known.get(name)?.has(label) !== true)
      .map(({ name, label }) => `${name}{${label}}`),
    ...[...grouped, ...used].filter((label) => !names.some((name) => known.get(name)?.has(label))),
  ];
}

const tool = await promtool();
/**
 * promtool is Debian's package prometheus; apt needs root to fetch it where it has no package
 * lists.
 */
const withPromtool = tool === undefined ? it.skip : it;

describe('monitoring/alerts.yml', () => {
  it.each(rules)('$alert uses metrics and labels that exist', async ({ expr }) => {
    expect(await unknownIn(expr)).toEqual([]);
  });

  it('has a section for each alert in docs/operations.md, and no other', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const sections = [...page.matchAll(/^### (Ranklog\w+)\n\n\S/gm)].map(([, name]) => name);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
  });

  withPromtool('passes promtool, and its unit tests (skipped without promtool)', async () => {
    const check = await runCommand(tool ?? '', ['check', 'rules', 'monitoring/alerts.yml']);
    expect(check).toMatchObject({ exitCode: 0 });
    const test = await runCommand(tool ?? '', ['test', 'rules', 'monitoring/alerts.test.yml']);
    expect(test).toMatchObject({ exitCode: 0 });
  });

  it('has a unit test that fires each alert', () => {
    const { tests } = parse(readFileSync('monitoring/alerts.test.yml', 'utf8')) as {
      tests: { alert_rule_test?: { alertname: string; exp_alerts: object[] }[] }[];
    };
    const cases = tests.flatMap(({ alert_rule_test = [] }) => alert_rule_test);
    const fired = cases.filter((one) => one.exp_alerts.length > 0).map((one) => one.alertname);
    expect([...new Set(fired)].sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });
});

describe('monitoring/grafana-dashboard.json', () => {
  it.each(queries)('"$title" uses metrics and labels that exist: $expr', async ({ expr, used }) => {
    expect(await unknownIn(expr, used)).toEqual([]);
  });

  withPromtool('has queries that Prometheus can parse (skipped without promtool)', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-test-'));
    const file = path.join(folder, 'queries.yml');
    const recorded = queries.map(({ expr }, index) => ({ record: `query:${index}`, expr }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules: recorded }] }));
    const check = await runCommand(tool ?? '', ['check', 'rules', file]);
    rmSync(folder, { recursive: true });
    expect(check).toMatchObject({ exitCode: 0 });
  });

  it('shows each metric of ranklog that an alert uses', () => {
    const names = (exprs: readonly string[]) =>
      new Set(exprs.flatMap((expr) => expr.match(/\branklog_\w+/g) ?? []));
    const shown = names(queries.map(({ expr }) => expr));
    const missing = [...names(rules.map(({ expr }) => expr))].filter((name) => !shown.has(name));
    expect(missing).toEqual([]);
  });
});
