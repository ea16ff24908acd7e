import { createHash } from 'node:crypto';
import type { BoardDefinition } from './definition.js';

/** The one JSON text of a definition: the same fields in the same order, so equal definitions have equal texts. */
export function definitionText(definition: BoardDefinition): string {
  return JSON.stringify(definition);
}

/** The definition of a text that definitionText wrote. */
export function parseDefinitionText(text: string): BoardDefinition {
  return JSON.parse(text) as BoardDefinition;
}

/** First 12 hex digits of the SHA-256 of the text. */
export function definitionHash(definition: BoardDefinition): string {
  return createHash('sha256').update(definitionText(definition)).digest('hex').slice(0, 12);
}
