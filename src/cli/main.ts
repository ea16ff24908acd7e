#!/usr/bin/env node
import { createProgram } from './program.js';

if (process.env['RANKLOG_LOG_LEVEL'] === 'debug') process.setSourceMapsEnabled(true);
await createProgram().parseAsync();
