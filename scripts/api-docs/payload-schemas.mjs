// @ts-check
import { publicSchemas } from '#contracts/schemas';
import { classComments } from './class-comments.mjs';

const CLASSES = new URL('../../libs/contracts/classes/', import.meta.url);

/**
 * @typedef {{ $ref?: string, description?: string, properties?: Record<string, Schema>, required?: string[], allOf?: Schema[],
 *   [keyword: string]: unknown }} Schema
 */

/**
 * The schemas of the values of all topics, by the names of their classes, with the comments of the classes as descriptions.
 * @returns {Record<string, Schema>}
 */
export function payloadSchemas() {
  const comments = classComments(CLASSES);
  const schemas = Object.entries(withBareReferences(publicSchemas('#/components/schemas/')));
  return Object.fromEntries(
    schemas.map(([name, schema]) => [name, describedClass(schema, name, comments)]),
  );
}

/** @param {Schema} schema @param {string} name @param {Map<string, string>} comments @returns {Schema} */
function describedClass({ properties, ...schema }, name, comments) {
  if (properties === undefined) return schema;
  const fields = Object.entries(properties).map(([field, type]) => [
    field,
    described(type, comments.get(`${name}.${field}`)),
  ]);
  return { ...described(schema, comments.get(name)), properties: Object.fromEntries(fields) };
}

/** The same schemas; validators ignore what stands beside a reference. @param {object} schemas */
function withBareReferences(schemas) {
  /** @type {Record<string, Schema>} */
  const bare = JSON.parse(JSON.stringify(schemas), (_, /** @type {Schema | undefined} */ value) =>
    value?.$ref === undefined ? value : { $ref: value.$ref },
  );
  return bare;
}

/** @param {Schema} schema @param {string} [description] @returns {Schema} */
function described(schema, description = '') {
  if (description === '') return schema;
  return { description, ...(schema.$ref === undefined ? schema : { allOf: [schema] }) };
}
