// What a benchmark says while it runs: one line on standard error that is written over, or lines where that is no terminal.

/** @param {string} text */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.slice(0, 100).padEnd(100)}`);
  else process.stderr.write(`${text}\n`);
}

/** Clears the line, so that what follows begins on its own. */
export function progressDone() {
  if (process.stderr.isTTY) process.stderr.write(`\r${' '.repeat(100)}\r`);
}
