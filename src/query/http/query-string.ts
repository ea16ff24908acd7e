import { parse } from 'node:querystring';
import { GATHERED } from '../dto/fields.js';

const MAPS = Object.keys(GATHERED) as (keyof typeof GATHERED)[];

type Value = string | string[];

/**
 * The parameters of a URL by name, with the maps of GATHERED: `where.region=eu` becomes
 * `{ where: { region: 'eu' } }`. A repeated parameter becomes an array. Names come from the client,
 * so the objects have no prototype.
 */
export function parseQuery(text: string): Record<string, Value | Record<string, Value>> {
  const query = Object.create(null) as Record<string, Value | Record<string, Value>>;
  const maps = Object.create(null) as Record<string, Record<string, Value>>;
  for (const [name, value] of Object.entries(parse(text, '&', '=', { maxKeys: 0 }))) {
    if (value === undefined) continue;
    const map = mapOf(name);
    if (map === undefined) query[name] = value;
    else {
      maps[map] ??= Object.create(null) as Record<string, Value>;
      maps[map][name.slice(GATHERED[map].length)] = value;
    }
  }
  // A parameter named `where` itself replaces the map, so that the pipe refuses it.
  return Object.assign(maps, query);
}

function mapOf(name: string): keyof typeof GATHERED | undefined {
  return MAPS.find((map) => name.startsWith(GATHERED[map]));
}
