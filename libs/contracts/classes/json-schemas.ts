// @ts-expect-error -- class-validator-jsonschema needs the metadata of @Type, which class-transformer does not declare
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';
import { validationMetadatasToSchemas } from 'class-validator-jsonschema';
import { DECIMAL, MAX_DECIMAL_LENGTH } from '#board';
import { RULES, type RuleName } from '../rules.js';
import {
  MAX_ATTRIBUTE_BYTES,
  MAX_ATTRIBUTE_VALUES,
  MAX_DELTAS,
  MAX_ID_BYTES,
  PARTITION,
} from '../values.js';
// These add their metadata to the storages.
import './definition-record.js';
import './leader-change.js';
import './rank-change.js';
import './score-event.js';

type Schema = Readonly<Record<string, unknown>>;

/** JSON Schemas of the classes of this folder by name, with the given schema for each rule. `parent` is where references point. */
export function classSchemas(parent: string, schemaOf: (rule: RuleName) => Schema) {
  const rules = Object.keys(RULES) as RuleName[];
  return validationMetadatasToSchemas({
    classValidatorMetadataStorage: getMetadataStorage(),
    // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- not declared, see the import
    classTransformerMetadataStorage: defaultMetadataStorage,
    refPointerPrefix: parent,
    additionalConverters: Object.fromEntries(rules.map((name) => [name, schemaOf(name)])),
  });
}

const CONTROL_FREE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: CONTROL_FREE }); // prettier-ignore
const ID = text(MAX_ID_BYTES);
const ATTRIBUTE = text(MAX_ATTRIBUTE_BYTES);
const ATTRIBUTES = { type: 'array', items: ATTRIBUTE, maxItems: MAX_ATTRIBUTE_VALUES };
const DECIMALS = { type: 'string', maxLength: MAX_DECIMAL_LENGTH, pattern: DECIMAL.source };
const NUMBER = { anyOf: [DECIMALS, { type: 'number' }] };
const byName = (values: object, names: object) => ({
  type: 'object',
  propertyNames: names,
  additionalProperties: values,
});

/** JSON Schema can't count bytes or significant digits, so these allow some values that are too long. */
const RULE_SCHEMAS: Readonly<Record<RuleName, Schema>> = {
  ranklogId: ID,
  ranklogDelta: NUMBER,
  ranklogDeltas: { ...byName(NUMBER, ID), minProperties: 1, maxProperties: MAX_DELTAS },
  ranklogTime: { type: 'string', format: 'date-time' },
  ranklogAttributes: byName({ anyOf: [ATTRIBUTE, ATTRIBUTES] }, ID),
  ranklogColumns: { type: 'object', additionalProperties: DECIMALS },
  ranklogStarts: byName({ type: 'integer', minimum: 0 }, { pattern: PARTITION.source }),
};

/** JSON Schemas (draft 7) of the classes, and of the rules of their fields (`Id` of `ranklogId`), by name. */
export function publicSchemas(parent: string): Record<string, Schema> {
  const nameOf = (rule: string) => rule.replace('ranklog', '');
  const rules = Object.entries(RULES).map(([rule, { allows }]) => {
    const description = `${allows[0]?.toUpperCase()}${allows.slice(1)}.`;
    return [nameOf(rule), { description, ...RULE_SCHEMAS[rule as RuleName] }] as const;
  });
  const classes = classSchemas(parent, (rule) => ({ $ref: `${parent}${nameOf(rule)}` }));
  return { ...(classes as Record<string, Schema>), ...Object.fromEntries(rules) };
}
