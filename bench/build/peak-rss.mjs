// @ts-check
// Loaded into a process by --import: writes its largest RSS, in kB, when it ends.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const file = process.env['BENCH_PEAK_RSS_FILE'];
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS));
});
