// Debian's nginx as a proxy in front of several servers.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from './debian.mjs';
import { freePort } from './port.mjs';

const nginx = debianProgram({ package: 'nginx-light', programs: ['/usr/sbin/nginx', 'nginx'] });

/** The reason to skip what needs nginx; false where it is there. @type {string | false} */
export const skip = nginx.skip;

/**
 * Starts a proxy that hands each request to the next server.
 *
 * @param {string[]} servers hosts and ports
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startProxy(servers) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-nginx-'));
  const port = await freePort();
  mkdirSync(join(folder, 'temporary'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off;
  ${paths.map((path) => `${path}_temp_path ${folder}/temporary/${path};`).join('\n  ')}
  upstream servers {
    ${servers.map((server) => `server ${server};`).join('\n    ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
    }
  }
}
`,
  );
  const child = spawn(nginx.path ?? '', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 1200 && child.exitCode === null && child.signalCode === null; attempt++) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) return { url, stop };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error('nginx did not start');
}
