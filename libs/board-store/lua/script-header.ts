/** The names of a script's keys and arguments in order; `NAME...` is a list of variable length. */
export interface Header {
  readonly keys: readonly string[];
  readonly arguments: readonly string[];
}

type Section = 'KEYS' | 'ARGV';
type Read = (file: string) => string;

/** Reads the header of a file of lua/: CONTRIBUTING.md describes its format. */
export function readHeader(file: string, read: Read): Header {
  const keys = namesIn('KEYS', file, read);
  const words = namesIn('ARGV', file, read);
  const all = [...keys, ...words].map((name) => name.replace('...', ''));
  const repeated = all.find((name, index) => all.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`${file}: the header has "${repeated}" twice`);

  return { keys, arguments: words };
}

function namesIn(section: Section, file: string, read: Read): string[] {
  const items = linesOf(section, file, read).flatMap((line) => line.replace(/,$/, '').split(', '));
  if (items.join() === 'none') return [];

  const names = items.flatMap((item) => {
    const [, include] = /^those of (\S+)$/.exec(item) ?? [];
    if (include !== undefined) return namesIn(section, `includes/${include}`, read);
    if (/^[a-z_]+(\.\.\.)?$/.test(item)) return item;
    throw new Error(`${file}: "${item}" in section ${section} is no name`);
  });

  const fixed = names.filter((name) => !name.endsWith('...'));
  const areFirst = fixed.every((name, index) => name === names[index]);
  if (!areFirst)
    throw new Error(`${file}: in section ${section}, a list is in front of other names`);
  return names;
}

/** The lines of a section, without explanations. */
function linesOf(section: Section, file: string, read: Read): string[] {
  const lines = read(file).split('\n');
  const begin = lines.findIndex((line) => line.startsWith(`-- ${section}  `));
  const end = lines.findIndex((line, index) => index > begin && !line.startsWith('--       '));
  if (begin < 0 || lines[end]?.startsWith('--  '))
    throw new Error(`${file}: the header has no section ${section} in the right form`);

  const texts = lines.slice(begin, end).map((line) => line.slice('-- KEYS  '.length));
  return texts.filter((text) => !text.startsWith(' ')).map((text) => text.replace(/ {2}.*$/, ''));
}
