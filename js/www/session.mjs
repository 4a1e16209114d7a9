// The login of a server that needs a token: a button that ends it, and the way to a new one when it is over.

import { hasSession } from './api.mjs';
import { find } from './elements.mjs';

/** Shows the button where there is a session, and the line where there is none any more. */
export function startSession() {
  const line = find(document, '#login-needed', HTMLElement);
  const link = find(line, 'a', HTMLAnchorElement);
  const logOut = find(document, '#log-out', HTMLFormElement);
  const look = async () => {
    logOut.hidden = !(await hasSession().catch(() => false));
  };
  // The login leads back to what is being looked at.
  link.addEventListener('click', () => {
    link.href = `/login?next=${encodeURIComponent(`/${location.hash}`)}`;
  });
  document.addEventListener('login-needed', () => {
    line.hidden = false;
    logOut.hidden = true;
  });
  document.addEventListener('server-answered', () => {
    line.hidden = true;
  });
  // After a log-out, the browser's way back shows the page as it was.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void look();
  });
  void look();
}
