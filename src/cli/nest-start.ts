// The entry of `nest start`, which names no command: runs `ranklog start`, with the options that
// follow `--`.
import { createProgram } from './program.js';

await createProgram().parseAsync(['start', ...process.argv.slice(2)], { from: 'user' });
