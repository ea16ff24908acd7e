/** The zones that Node knows by their main names; it takes others, such as old names, too. */
export const TIME_ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

const known = new Set(TIME_ZONES);
const inLowerCase = new Set(TIME_ZONES.map((zone) => zone.toLowerCase()));

/** Whether a text is the name of an IANA time zone, spelled as it is there; an offset such as +02:00 is none. */
export function isTimeZone(text: string): boolean {
  if (known.has(text)) return true;
  if (!/^[A-Z]/.test(text) || inLowerCase.has(text.toLowerCase())) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
