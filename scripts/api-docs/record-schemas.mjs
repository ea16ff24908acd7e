// @ts-check
// The JSON Schema of each record as a document of its own, with the parts that it refers to.
import path from 'node:path';
import { asyncApi } from './asyncapi.mjs';

/** @typedef {import('./payload-schemas.mjs').Schema} Schema */

/** The schemas of the AsyncAPI document by the names of their files. */
const VALUES = {
  'score-event': 'ScoreEvent',
  'player-record': 'PlayerRecord',
  'rank-change': 'RankChange',
  'leader-change': 'LeaderChange',
  'period-result': 'PeriodResult',
  definition: 'StoredDefinitionRecord',
};

/**
 * JSON Schemas (draft 7) by the names of their files. The value of a dead letter is that of the bad
 * record, so its schema is that of the headers.
 * @returns {Record<string, Schema>}
 */
export function recordSchemas() {
  const { schemas, messages } = asyncApi().components;
  const known = /** @type {Record<string, Schema>} */ (schemas);
  const { DeadLetter } = /** @type {Record<string, { headers?: Schema }>} */ (messages);
  /** @type {Record<string, Schema>} */
  const files = {};
  const add = (/** @type {string} */ name, /** @type {Schema} */ schema) => {
    const title = `${name.replaceAll('-', ' ')} of ranklog`;
    files[`${name}.schema.json`] = standalone({ title, ...schema }, known);
  };
  for (const [name, type] of Object.entries(VALUES)) add(name, known[type] ?? {});
  const description = 'The headers of a dead letter, as texts.';
  add('dead-letter-headers', { description, ...DeadLetter?.headers });
  return files;
}

/** @param {Schema} schema @param {Record<string, Schema>} known @returns {Schema} */
function standalone(schema, known) {
  /** @type {Record<string, Schema>} */
  const definitions = {};
  for (const open = referencesIn(schema); open.length > 0;) {
    const name = open.pop() ?? '';
    if (definitions[name] !== undefined) continue;
    definitions[name] = known[name] ?? {};
    open.push(...referencesIn(definitions[name]));
  }
  const document = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema, definitions };
  const text = JSON.stringify(document).replaceAll('"#/components/schemas/', '"#/definitions/');
  /** @type {Schema} */
  const copy = JSON.parse(text);
  return copy;
}

/**
 * The names of the schemas to which a part of a schema refers. @param {unknown} part @returns
 * {string[]}
 */
function referencesIn(part) {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' ? [path.basename(String(value))] : referencesIn(value),
  );
}
