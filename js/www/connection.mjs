// Says when the server does not answer, and when it does again.

import { viewerOptions } from './api.mjs';
import { find } from './elements.mjs';

/** Shows the line while the server is gone; pages hear `server-back` when it is there again. */
export function startConnection() {
  const line = find(document, '#connection', HTMLElement);
  find(line, '#connection-retry', HTMLButtonElement).addEventListener('click', () => {
    // Whether it answers is told by the events below.
    viewerOptions().catch(() => {});
  });
  document.addEventListener('server-gone', () => {
    line.hidden = false;
  });
  document.addEventListener('server-answered', () => {
    if (line.hidden) return;
    line.hidden = true;
    document.dispatchEvent(new Event('server-back'));
  });
}
