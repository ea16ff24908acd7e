// @ts-check
import '#contracts'; // fills SCHEMAS
import { SCHEMAS } from '#contracts/schemas';
import { typeComments } from './type-comments.mjs';

const CONTRACTS = new URL('../../libs/contracts/', import.meta.url);

/**
 * @typedef {{ $ref?: string, description?: string, properties?: Record<string, Schema>, required?:
 * string[], allOf?: Schema[], [keyword: string]: unknown }} Schema
 */

/**
 * The schemas of the values of all topics, by the names of their types, with the comments of the
 * types as descriptions.
 * @returns {Record<string, Schema>}
 */
export function payloadSchemas() {
  const comments = typeComments(CONTRACTS);
  const schemas = Object.entries(/** @type {Record<string, Schema>} */ (SCHEMAS));
  return Object.fromEntries(
    schemas.map(([name, schema]) => [name, describedType(schema, name, comments)]),
  );
}

/**
 * @param {Schema} schema @param {string} name @param {Map<string, string>} comments @returns
 * {Schema}
 */
function describedType({ properties, ...schema }, name, comments) {
  if (properties === undefined) return schema;
  const fields = Object.entries(properties).map(([field, type]) => [
    field,
    described(type, comments.get(`${name}.${field}`)),
  ]);
  return { ...described(schema, comments.get(name)), properties: Object.fromEntries(fields) };
}

/** @param {Schema} schema @param {string} [description] @returns {Schema} */
function described(schema, description = '') {
  if (description === '') return schema;
  return { description, ...(schema.$ref === undefined ? schema : { allOf: [schema] }) };
}
