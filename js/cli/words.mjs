// Splits a line of the prompt into words as a shell would, except that nodes keep their double quotes.

/**
 * @param {string} line
 * @returns {string[]}
 * @example
 * words('set ^Person(1,"full name") "Rob Smith"'); // ['set', '^Person(1,"full name")', 'Rob Smith']
 */
export function words(line) {
  const found = [];
  let at = 0;
  while (at < line.length) {
    while (line[at] === ' ') at += 1;
    if (at === line.length) break;
    const end = line[at] === '^' ? nodeEnd(line, at) : wordEnd(line, at);
    found.push(line[at] === '^' ? line.slice(at, end) : bare(line.slice(at, end)));
    at = end;
  }
  return found;
}

/** @param {string} line @param {number} at @returns {number} the first space outside of quotes and parentheses */
function nodeEnd(line, at) {
  let depth = 0;
  let quoted = false;
  for (let end = at; end < line.length; end++) {
    const character = line[end];
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ' ' && depth <= 0) return end;
  }
  return line.length;
}

/** @param {string} line @param {number} at */
function wordEnd(line, at) {
  const quote = line[at];
  if (quote !== '"' && quote !== "'") return endOr(line.indexOf(' ', at), line);
  const closing = line.indexOf(quote, at + 1);
  return closing < 0 ? line.length : closing + 1;
}

/** @param {number} end @param {string} line */
function endOr(end, line) {
  return end < 0 ? line.length : end;
}

/** @param {string} word */
function bare(word) {
  const quote = word[0];
  const closed = word.length > 1 && (quote === '"' || quote === "'") && word.endsWith(quote);
  return closed ? word.slice(1, -1) : word;
}
