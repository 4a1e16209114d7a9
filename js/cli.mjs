#!/usr/bin/env node
// The `caretdb` command: look at, change and move the globals of a store. `caretdb --help` teaches it.

import { run } from './cli/run.mjs';

process.exitCode = await run(process.argv.slice(2));
